package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.event.RowlockEvent.JobRescued;
import io.rowlock.internal.sql.SweepSql;
import io.rowlock.internal.sql.SweepSql.LaneWalk;
import io.rowlock.internal.sql.SweepSql.Rescued;
import io.rowlock.internal.sql.SweepSql.Suspect;
import io.rowlock.internal.sql.SweepSql.Walked;
import io.rowlock.spi.DeathHook.DyingJob;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
    private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);
    private static final int ROWS_PER_STEP = 5_000;
    private static final int FEW = 100;
    private static final String WORKER_LOST = "worker lost";

    private final EngineConnection connection;
    private final SweepSql sql;
    private final Lanes lanes;
    private final Deaths deaths;
    private final Events events;
    private final KeyRetaker retaker;
    private final Map<String, Integer> maxAttempts = new HashMap<>();
    private final Map<Lanes.Lane, Place> places = new HashMap<>();

    Sweeper(EngineConnection connection, SweepSql sql, Lanes lanes, Deaths deaths, Events events, KeyRetaker retaker) {
        this.connection = connection;
        this.sql = sql;
        this.lanes = lanes;
        this.deaths = deaths;
        this.events = events;
        this.retaker = retaker;
        for (Lanes.Lane lane : lanes.all()) {
            maxAttempts.put(lane.key().kind(), lane.binding().settings().retry().maxAttempts());
        }
    }

    /** Where a pass through a lane stands. */
    private record Place(@Nullable Instant at, @Nullable Long id) {
        static final Place BEGINNING = new Place(null, null);
    }

    /** A due job that no claim finds by itself: the claimer takes it by id. */
    record Found(long id, Lanes.Lane lane, boolean suspect) {}

    /** One step through every lane: at most 5,000 rows. Rescues what it finds expired. */
    List<Found> step() throws SQLException {
        List<Lanes.Lane> all = lanes.all();
        int perLane = Math.max(50, ROWS_PER_STEP / all.size());
        List<LaneWalk> walks = new ArrayList<>();
        for (Lanes.Lane lane : all) {
            Place place = places.getOrDefault(lane, Place.BEGINNING);
            walks.add(new LaneWalk(
                    lane.key().queue(),
                    lane.key().kind(),
                    lane.key().priority(),
                    place.at(),
                    place.id(),
                    lanes.since(lane)));
        }
        List<Walked> walked = connection.call(open -> sql.walk(open, walks, perLane));
        List<Suspect> suspects = connection.call(open -> sql.suspects(open, walks, perLane));
        places.clear();
        List<Found> found = new ArrayList<>();
        for (Walked step : walked) {
            Lanes.Lane lane = all.get(step.lane());
            goOn(lane, step, perLane);
            rescue(step.expired(), lane.key().kind());
            lateOf(lane, step).forEach(id -> found.add(new Found(id, lane, false)));
        }
        for (Suspect suspect : suspects) {
            Lanes.Lane lane = all.get(suspect.lane());
            if (suspect.expired()) {
                rescue(List.of(suspect.id()), lane.key().kind());
            } else if (suspect.waiting()) {
                found.add(new Found(suspect.id(), lane, true));
            }
        }
        return found;
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

    private void rescue(List<Long> ids, String kind) throws SQLException {
        if (ids.isEmpty()) {
            return;
        }
        if (!deaths.hooked(kind)) {
            rescueTogether(ids);
            return;
        }
        for (Long id : ids) {
            try {
                rescueTogether(List.of(id));
            } catch (Deaths.HookFailedException refused) {
                LOG.error(
                        "A death hook refused; the lost job is looked at again later (job={}, kind={})",
                        id,
                        kind,
                        refused);
            }
        }
    }

    private void rescueTogether(List<Long> ids) throws SQLException {
        List<Rescued> rescued = connection.inTransaction(open -> {
            List<Rescued> taken = sql.rescue(open, ids, maxAttempts);
            deaths.died(
                    open,
                    taken.stream()
                            .filter(Rescued::dead)
                            .map(job -> new DyingJob(job.id(), job.kind(), job.attempts(), WORKER_LOST))
                            .toList());
            return taken;
        });
        for (Rescued job : rescued) {
            LOG.warn(
                    "The worker of a job was lost; the job {} (job={}, kind={}, attempts={}, worker={})",
                    job.dead() ? "has used up its attempts and is dead" : "will run again alone",
                    job.id(),
                    job.kind(),
                    job.attempts(),
                    job.worker());
            events.tell(new JobRescued(job.id(), job.kind(), job.attempts(), job.worker()));
            if (job.dead()) {
                events.tell(new JobDied(job.id(), job.kind(), job.attempts(), WORKER_LOST));
            } else {
                retaker.add(job.id());
            }
        }
    }
}
