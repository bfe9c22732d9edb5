package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class NotifySqlTest {
    @Test
    void each_set_of_tables_has_a_channel_of_its_own() {
        assertThat(channel("public", "rowlock_")).isEqualTo("public.rowlock_wake");
        assertThat(channel("a", "b_c_")).isNotEqualTo(channel("a_b", "c_"));
    }

    @Test
    void a_channel_is_never_longer_than_an_identifier_may_be() {
        String long1 = channel("s".repeat(63), "p".repeat(40));
        String long2 = channel("s".repeat(63), "p".repeat(39));
        assertThat(long1).matches("wake\\.[0-9a-f]{40}").isNotEqualTo(long2);
        assertThat(channel("s".repeat(50), "p".repeat(8))).hasSize(63).endsWith("ppwake");
        assertThat(channel("s".repeat(50), "p".repeat(9))).startsWith("wake.");
    }

    private static String channel(String schema, String prefix) {
        return NotifySql.channel(new Names(schema, prefix));
    }
}
