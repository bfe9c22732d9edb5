package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.sql.LimitKey;
import io.rowlock.internal.sql.PromoteSql.Turn;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("P2")
final class LimitTurnsTest {
    private static final LimitKey KEY = new LimitKey("default", "a");

    private final LimitTurns turns = new LimitTurns();

    @Test
    void where_all_levels_have_jobs_the_turns_are_the_shares() {
        int[] sum = new int[3];
        for (int i = 0; i < 5 * Shares.ROUND; i++) {
            int level = turns.isTurnOf(2, KEY) ? 2 : turns.isTurnOf(1, KEY) ? 1 : 0;
            sum[level]++;
            turns.took(KEY, level);
        }
        assertThat(sum).containsExactly(60, 15, 5);
    }

    @Test
    void turns_that_a_level_had_no_job_for_are_owed_to_it_until_it_has_one_but_no_more_than_one() {
        for (int i = 0; i < 3 * Shares.ROUND; i++) {
            turns.took(KEY, 0);
        }
        assertThat(turns.of(KEY)).isEqualTo(new Turn(0, 1, 1));

        turns.took(KEY, 2);
        assertThat(turns.isTurnOf(2, KEY)).isFalse();
        assertThat(turns.isTurnOf(1, KEY)).isTrue();
        turns.took(KEY, 1);
        assertThat(turns.of(KEY)).isEqualTo(new Turn(2, 0, 0));
    }

    @Test
    void each_limit_key_has_turns_of_its_own() {
        turns.took(KEY, 0);

        assertThat(turns.of(new LimitKey("default", "b"))).isEqualTo(new Turn(0, 0, 0));
        assertThat(turns.of(KEY)).isEqualTo(new Turn(1, 0, 0));
    }
}
