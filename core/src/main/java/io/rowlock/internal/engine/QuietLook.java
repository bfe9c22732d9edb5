package io.rowlock.internal.engine;

import io.rowlock.internal.sql.DueSql;
import io.rowlock.internal.sql.DueSql.AnyDue;
import io.rowlock.internal.sql.DueSql.Look;
import java.sql.SQLException;
import java.util.List;

/** Whether nothing at all is due in a worker's lanes, asked by one statement. For the claimer's thread. */
final class QuietLook {
    /*
     * A worker without work asks for jobs without keys, for jobs with keys, and for what sweeps are to find: late rows, suspects,
     * expired leases. All of these are ready rows of its lanes that are due by the database's clock, leased or not. So where one
     * look from the beginning of every lane sees no such row, none of the others would find any, and it stands for them all: as
     * often as they would have looked, so nothing is found later than without it. Of the sweeps only those of keys and limits are left,
     * as they see parked rows.
     *
     * It decides nothing: where it sees a row, of whatever lane, everything goes its usual way, in the same round. The database
     * was asked once more for it then; so after that it is not asked for a round of sweeps. Like a sweep it walks dead entries that
     * vacuum cannot remove, so it may take at most one part in a hundred of the time.
     */
    private static final int PASSED_OVER = 6;
    private static final int SHARE = 100;

    private final EngineConnection connection;
    private final DueSql sql;
    private final List<Look> looks;
    private int passOver = PASSED_OVER;
    private long notBefore = System.nanoTime();

    QuietLook(EngineConnection connection, DueSql sql, Lanes lanes) {
        this.connection = connection;
        this.sql = sql;
        this.looks = lanes.all().stream()
                .map(Lanes.Lane::key)
                .map(key -> new Look(key.queue(), key.kind(), key.priority(), null, null))
                .toList();
    }

    /** Whether a look is worth its statement; to be called once before each sweep. */
    boolean isLikely() {
        if (passOver > 0) {
            passOver--;
            return false;
        }
        return System.nanoTime() - notBefore >= 0;
    }

    /** Looks. No watermark goes up: what claims and gates count from is theirs, and may be of lanes that were not to be claimed. */
    boolean isQuiet() throws SQLException {
        long askedAt = System.nanoTime();
        AnyDue any = connection.call(open -> sql.any(open, looks));
        long now = System.nanoTime();
        notBefore = now + (now - askedAt) * SHARE;
        if (any.due()) {
            passOver = PASSED_OVER - 1;
            return false;
        }
        return true;
    }
}
