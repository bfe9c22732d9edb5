package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Rescuer.Expired;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.KeySql.LockedKey;
import io.rowlock.internal.sql.KeySql.Seen;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.SweepSql;
import io.rowlock.internal.sql.SweepSql.KeyedRow;
import io.rowlock.internal.sql.SweepSql.LaneWalk;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Walks, by time, what is due with ordering keys, for expired leases and late rows; and the keys, for those that nobody
 * comes back to (promise P2).
 */
final class KeyedSweeper {
    private static final int ROWS_PER_STEP = 5_000;
    private static final int KEYS_PER_STEP = 1_000;
    private static final OrderingKey BEGINNING = new OrderingKey("", "");

    private final EngineConnection connection;
    private final SweepSql sweeps;
    private final KeySql keys;
    private final Lanes lanes;
    private final Rescuer rescuer;
    private final Map<Lanes.Lane, KeyedRow> places = new HashMap<>();
    private OrderingKey lastKey = BEGINNING;

    KeyedSweeper(EngineConnection connection, EngineSql sql, Lanes lanes, Rescuer rescuer) {
        this.connection = connection;
        this.sweeps = sql.sweeps();
        this.keys = sql.keys();
        this.lanes = lanes;
        this.rescuer = rescuer;
    }

    /** Has the walk begin at the beginning of every lane. */
    void beginAnew() {
        places.clear();
    }

    /** One step through the due rows of every lane. Parked rows are not among them, so a lane is short. */
    void walk() throws SQLException {
        List<Lanes.Lane> all = lanes.all();
        int perLane = Math.max(50, ROWS_PER_STEP / all.size());
        List<LaneWalk> walks = new ArrayList<>();
        for (Lanes.Lane lane : all) {
            KeyedRow place = places.get(lane);
            walks.add(new LaneWalk(
                    lane.key().queue(),
                    lane.key().kind(),
                    lane.key().priority(),
                    place == null ? null : place.runAt(),
                    place == null ? null : place.id(),
                    null));
        }
        List<KeyedRow> rows = connection.call(open -> sweeps.walkKeyed(open, walks, perLane));
        Map<Integer, List<KeyedRow>> byLane = new HashMap<>();
        rows.forEach(row ->
                byLane.computeIfAbsent(row.lane(), lane -> new ArrayList<>()).add(row));
        places.clear();
        for (Map.Entry<Integer, List<KeyedRow>> each : byLane.entrySet()) {
            see(all.get(each.getKey()), each.getValue(), perLane);
        }
    }

    private void see(Lanes.Lane lane, List<KeyedRow> rows, int perLane) throws SQLException {
        List<Expired> expired = new ArrayList<>();
        Instant since = lanes.since(lane);
        @Nullable Instant late = null;
        for (KeyedRow row : rows) {
            if (row.expired()) {
                expired.add(new Expired(row.id(), row.key()));
            } else if (row.waiting()
                    && since != null
                    && late == null
                    && row.runAt().isBefore(since)) {
                late = row.runAt();
            }
        }
        if (late != null) {
            lanes.lower(lane.key(), late);
        }
        if (rows.size() == perLane) {
            places.put(lane, rows.get(rows.size() - 1));
        }
        rescuer.rescue(expired, lane.key().kind());
    }

    /** One step through the keys: promotes heads, drops what is left over, clears blocks that hold no more; true if there were such. */
    boolean settleStranded() throws SQLException {
        List<Seen> seen = connection.call(open -> keys.stranded(open, lastKey, KEYS_PER_STEP));
        lastKey = seen.size() < KEYS_PER_STEP
                ? BEGINNING
                : seen.get(seen.size() - 1).key();
        List<OrderingKey> stranded =
                seen.stream().filter(Seen::stranded).map(Seen::key).toList();
        if (!stranded.isEmpty()) {
            connection.inTransaction(open -> {
                List<LockedKey> locked = keys.lock(open, stranded);
                keys.unblockRevived(open, locked);
                keys.settle(open, locked.stream().map(LockedKey::key).toList());
                return true;
            });
        }
        return !stranded.isEmpty();
    }
}
