package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.sql.ClaimSql.Claimant;
import io.rowlock.internal.sql.Names;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("P8")
final class LimitsTest {
    private final EngineConnection nobody = new EngineConnection(
            () -> {
                throw new SQLException("nobody there", "08001");
            },
            Duration.ofSeconds(5));

    private Limits limits(Duration lease) {
        return new Limits(
                nobody,
                EngineSql.of(new Names("public", "rowlock_")),
                new Claimant("me", lease),
                new Lanes(Set.of("default"), List.of()),
                false);
    }

    @Test
    void a_worker_that_was_not_heard_of_for_two_leases_is_told_so_once_though_its_beats_go_on() throws Exception {
        Limits limits = limits(Duration.ofSeconds(2));
        assertThat(limits.stoodStill()).isFalse();

        Awaitility.await().until(limits::stoodStill);
        limits.extend(nobody); // the first beat after it stood still

        assertThat(limits.stoodStill()).isTrue();
        assertThat(limits.stoodStill()).isFalse();
    }
}
