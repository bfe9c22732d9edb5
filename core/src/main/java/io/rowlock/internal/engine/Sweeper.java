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
     * Two passes go through a lane in steps from its beginning. The short one ends where the due rows end, or where a
     * whole step beyond the watermark held no leased row: what follows is most likely the backlog, which claims come to
     * anyway. Most likely, as rows that commit late may stand before leased ones; so the long one ends where the due rows
     * end, in its own time.
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
    private final Map<Lanes.Lane, Place> longPlaces = new HashMap<>();

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

    /** Has both passes begin at the beginning of every lane. */
    void beginAnew() {
        places.clear();
        longPlaces.clear();
    }

    /** One step of the short pass through every lane: takes away what is expired, and gives what is late. */
    List<Found> walk() throws SQLException {
        return walk(places, this::isAtEnd);
    }

    /** One step of the long pass through every lane, to its end. */
    List<Found> walkThrough() throws SQLException {
        return walk(longPlaces, (lane, step) -> step.span().rows() < perLane());
    }

    @FunctionalInterface
    private interface End {
        boolean reached(Lanes.Lane lane, Walked step);
    }

    private List<Found> walk(Map<Lanes.Lane, Place> from, End end) throws SQLException {
        List<Lanes.Lane> all = lanes.all();
        List<LaneWalk> walks = walks(from);
        List<Walked> walked = connection.call(open -> sql.walk(open, walks, perLane()));
        from.clear();
        List<Found> found = new ArrayList<>();
        for (Walked step : walked) {
            Lanes.Lane lane = all.get(step.lane());
            if (!end.reached(lane, step)) {
                from.put(lane, new Place(step.span().lastAt(), step.span().lastId()));
            }
            rescue(step.expired(), lane);
            lateOf(lane, step).forEach(id -> found.add(new Found(id, lane, false)));
        }
        return found;
    }

    private boolean isAtEnd(Lanes.Lane lane, Walked step) {
        Instant since = lanes.since(lane);
        boolean beyond = since != null && step.span().lastAt().isAfter(since);
        return step.span().rows() < perLane() || (beyond && step.leased() == 0);
    }

    /** The first due suspects of every lane; takes away those that are expired again. */
    List<Found> suspects() throws SQLException {
        List<LaneWalk> walks = walks(Map.of());
        List<Found> found = new ArrayList<>();
        for (Suspect suspect : connection.call(open -> sql.suspects(open, walks, perLane()))) {
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

    private List<LaneWalk> walks(Map<Lanes.Lane, Place> from) {
        List<LaneWalk> walks = new ArrayList<>();
        for (Lanes.Lane lane : lanes.all()) {
            Place place = from.getOrDefault(lane, Place.BEGINNING);
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

    private List<Long> lateOf(Lanes.Lane lane, Walked step) {
        Instant from = step.lateFrom();
        if (from == null || step.late().size() <= FEW) {
            return step.late();
        }
        lanes.lower(lane.key(), from);
        return List.of();
    }
}
