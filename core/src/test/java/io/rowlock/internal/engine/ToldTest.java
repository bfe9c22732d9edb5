package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.alert.AlertLimits;
import io.rowlock.internal.alert.Alarms;
import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.internal.outbox.JacksonCodec;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.Priority;
import io.rowlock.worker.WorkerConfig;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an engine makes of what other processes tell. */
final class ToldTest {
    private static final Instant AT = Instant.parse("2026-01-01T00:00:00Z");

    private final AtomicInteger woken = new AtomicInteger();
    private final Engine engine = new Engine(
            new Ground(
                    () -> {
                        throw new SQLException("nobody there", "08001");
                    },
                    new Names("public", "rowlock_"),
                    new JacksonCodec(),
                    List.of(),
                    new Events(List.of()),
                    null,
                    () -> {},
                    jobs -> {},
                    new Alarms(AlertLimits.none(), List.of(), Clock.systemUTC())),
            new WorkerConfig()
                    .handle(new JobKind<>("mail", String.class, List.of("post")), (text, job) -> {}, options -> {})
                    .settings(),
            new Identity("me", Duration.ofMinutes(1), "x", false, () -> false),
            Runnable::run,
            woken::incrementAndGet);

    @Test
    @Tag("P12")
    void what_it_cannot_run_does_not_wake_it() {
        engine.told(note(job("default", "foreign")));
        engine.told(note(job("reports", "mail")));
        assertThat(woken).hasValue(0);

        engine.told(note(job("default", "foreign"), job("default", "mail")));
        assertThat(woken).hasValue(1);
        engine.told(note(job("default", "post")));
        assertThat(woken).hasValue(2);
    }

    @Test
    void where_no_lane_is_named_it_looks_at_all() {
        engine.told(new Note("x", List.of(), true, null));
        engine.told(new Note("x", List.of(job("default", "foreign")), true, AT));
        assertThat(woken).hasValue(2);
    }

    private static Note note(Enqueued... jobs) {
        return new Note("x", List.of(jobs), false, null);
    }

    private static Enqueued job(String queue, String kind) {
        return new Enqueued(1, kind, queue, Priority.NORMAL, AT, false, false);
    }
}
