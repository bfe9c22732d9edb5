package io.rowlock.internal.engine;

import io.rowlock.internal.sql.LimitKey;
import io.rowlock.internal.sql.PromoteSql.Turn;
import io.rowlock.job.Priority;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is among the levels of priority of a limit key of which jobs are parked: who makes some ready, and who
 * claims one, go by the same turns. For any thread.
 */
final class LimitTurns {
    /*
     * The order is that of Shares, counted by this worker's claims of the key. Where several workers share a key, one may
     * claim what another has made ready, or what was just written, and then see nothing of the level whose turn it is: that
     * level's turn is owed to it until it has it, one at most. A worker takes the place of a level no more than a round
     * long before it owes it a turn; when all of them do, whoever frees a slot makes that level ready, and whoever claims
     * takes it. So no level waits longer than a round of each worker.
     */
    private static final int MOST = 10_000;

    private final Map<LimitKey, Turn> turns = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<LimitKey, Turn> eldest) {
            return size() > MOST;
        }
    };

    /** Whose turn it is. */
    synchronized Turn of(LimitKey key) {
        return turns.getOrDefault(key, new Turn(0, 0, 0));
    }

    /** Whether it is the turn of a level, or one is owed to it. */
    boolean isTurnOf(int level, LimitKey key) {
        Turn turn = of(key);
        return Shares.levelOf(turn.dealt()) == level || owed(turn, level) > 0;
    }

    private static int owed(Turn turn, int level) {
        return level == Priority.HIGH.level() ? 0 : level == Priority.NORMAL.level() ? turn.normal() : turn.low();
    }

    /** A job of this level was claimed. */
    synchronized void took(@Nullable LimitKey key, int level) {
        if (key != null) {
            Turn turn = of(key);
            int was = Shares.levelOf(turn.dealt());
            turns.put(
                    key,
                    new Turn(
                            (turn.dealt() + 1) % Shares.ROUND,
                            owes(turn, Priority.NORMAL.level(), was, level),
                            owes(turn, Priority.LOW.level(), was, level)));
        }
    }

    private static int owes(Turn turn, int level, int was, int took) {
        return took == level ? 0 : was == level ? 1 : owed(turn, level);
    }
}
