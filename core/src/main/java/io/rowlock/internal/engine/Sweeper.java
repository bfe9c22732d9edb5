package io.rowlock.internal.engine;

import io.rowlock.internal.sql.SweepSql;
import io.rowlock.internal.sql.SweepSql.LaneWalk;
import io.rowlock.internal.sql.SweepSql.Suspect;
import io.rowlock.internal.sql.SweepSql.Walked;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Walks the worker's own lanes by time, for what no claim finds by itself.
 */
final class Sweeper {
    /*
     * Three finds:
     * - late rows: unowned, due, and before the lane's watermark, because their transaction committed late. A few are
     *   handed to the claimer by id; many lower the watermark, so that claims take them at full speed (P2).
     * - expired leases: taken from their owner, dead if the attempts are used up (P6, P8). Leased rows stand at the
     *   front of their lane, as claims go in its order, so no index on leases is needed.
     * - suspects: due jobs with a lost lease behind them, claimed one at a time.
     *
     * A pass goes through a lane in steps from its beginning and ends where the due rows end, or where a whole step
     * beyond the watermark held no leased row: what follows is the backlog, which claims come to anyway.
     *
     * Foreign kinds are in none of the lanes (P12).
     */
    private static final int ROWS_PER_STEP = 5_000;
    private static final int FEW = 100;

    private final EngineConnection connection;
    private final SweepSql sql;
    private final Lanes lanes;
    private final Rescuer rescuer;
    private final Map<Lanes.Lane, Place> places = new HashMap<>();

    Sweeper(EngineConnection connection, SweepSql sql, Lanes lanes, Rescuer rescuer) {
        this.connection = connection;
        this.sql = sql;
        this.lanes = lanes;
        this.rescuer = rescuer;
    }

    /** Where a pass through a lane stands. */
    private record Place(@Nullable Instant at, @Nullable Long id) {
        static final Place BEGINNING = new Place(null, null);
    }

    /** A due job that no claim finds by itself: the claimer takes it by id. */
    record Found(long id, Lanes.Lane lane, boolean suspect) {}

    /** One step through every lane, at most 5,000 rows: takes away what is expired, and gives what is late. */
    List<Found> walk() throws SQLException {
        List<Lanes.Lane> all = lanes.all();
        int perLane = perLane();
        List<LaneWalk> walks = walks();
        List<Walked> walked = connection.call(open -> sql.walk(open, walks, perLane));
        places.clear();
        List<Found> found = new ArrayList<>();
        for (Walked step : walked) {
            Lanes.Lane lane = all.get(step.lane());
            goOn(lane, step, perLane);
            rescue(step.expired(), lane);
            lateOf(lane, step).forEach(id -> found.add(new Found(id, lane, false)));
        }
        return found;
    }

    /** The first due suspects of every lane; takes away those that are expired again. */
    List<Found> suspects() throws SQLException {
        int perLane = perLane();
        List<LaneWalk> walks = walks();
        List<Found> found = new ArrayList<>();
        for (Suspect suspect : connection.call(open -> sql.suspects(open, walks, perLane))) {
            Lanes.Lane lane = lanes.all().get(suspect.lane());
            if (suspect.expired()) {
                rescue(List.of(suspect.id()), lane);
            } else if (suspect.waiting()) {
                found.add(new Found(suspect.id(), lane, true));
            }
        }
        return found;
    }

    private int perLane() {
        return Math.max(50, ROWS_PER_STEP / lanes.all().size());
    }

    private List<LaneWalk> walks() {
        List<LaneWalk> walks = new ArrayList<>();
        for (Lanes.Lane lane : lanes.all()) {
            Place place = places.getOrDefault(lane, Place.BEGINNING);
            walks.add(new LaneWalk(
                    lane.key().queue(),
                    lane.key().kind(),
                    lane.key().priority(),
                    place.at(),
                    place.id(),
                    lanes.since(lane)));
        }
        return walks;
    }

    private void rescue(List<Long> ids, Lanes.Lane lane) throws SQLException {
        rescuer.rescue(
                ids.stream().map(id -> new Rescuer.Expired(id, null)).toList(),
                lane.key().kind());
    }

    private void goOn(Lanes.Lane lane, Walked step, int perLane) {
        Instant since = lanes.since(lane);
        boolean beyond = since != null && step.span().lastAt().isAfter(since);
        boolean end = step.span().rows() < perLane || (beyond && step.leased() == 0);
        if (!end) {
            places.put(lane, new Place(step.span().lastAt(), step.span().lastId()));
        }
    }

    private List<Long> lateOf(Lanes.Lane lane, Walked step) {
        Instant from = step.lateFrom();
        if (from == null || step.late().size() <= FEW) {
            return step.late();
        }
        lanes.lower(lane.key(), from);
        return List.of();
    }
}
