package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.event.RowlockEvent.JobRescued;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.KeySql.Blocker;
import io.rowlock.internal.sql.KeySql.LockedKey;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.internal.sql.SweepSql;
import io.rowlock.internal.sql.SweepSql.Rescued;
import io.rowlock.spi.DeathHook.DyingJob;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes jobs whose leases have expired away from lost workers: to run again alone, or dead (promises P6, P8). */
final class Rescuer {
    private static final Logger LOG = LoggerFactory.getLogger(Rescuer.class);
    private static final String WORKER_LOST = "worker lost";

    private final EngineConnection connection;
    private final SweepSql sql;
    private final KeySql keys;
    private final Deaths deaths;
    private final Told told;
    private final Map<String, Integer> maxAttempts = new HashMap<>();

    Rescuer(EngineConnection connection, EngineSql sql, Lanes lanes, Deaths deaths, Told told) {
        this.connection = connection;
        this.sql = sql.sweeps();
        this.keys = sql.keys();
        this.deaths = deaths;
        this.told = told;
        for (Lanes.Lane lane : lanes.all()) {
            maxAttempts.put(lane.key().kind(), lane.binding().settings().retry().maxAttempts());
        }
    }

    /** Who hears of rescued jobs: listeners, and whoever looks after those that wait again without their dedup keys. */
    record Told(Events events, LongConsumer keyless) {}

    /** A job whose lease was seen expired, with its ordering key if it has one. */
    record Expired(long id, @Nullable OrderingKey key) {}

    /** Takes away those that are still expired, all of one kind; what is locked is left for the next sweep. */
    void rescue(List<Expired> jobs, String kind) throws SQLException {
        if (jobs.isEmpty()) {
            return;
        }
        if (deaths.hooked(kind)) {
            rescueOneByOne(jobs, kind);
            return;
        }
        try {
            rescueTogether(jobs);
        } catch (SQLException e) {
            if (!SqlState.refusesData(e)) {
                throw e;
            }
            rescueOneByOne(jobs, kind);
        }
    }

    /** What stands in the way of one, a hook or a trigger, must not stand in the way of the others. */
    private void rescueOneByOne(List<Expired> jobs, String kind) throws SQLException {
        SQLException last = null;
        for (Expired job : jobs) {
            try {
                rescueTogether(List.of(job));
                last = null;
            } catch (Deaths.HookFailedException | SQLException refused) {
                last = refused instanceof SQLException e ? e : null;
                Described.quietly(() -> LOG.error(
                        "A lost job could not be taken over; it is looked at again later (job={}, kind={}): {}",
                        job.id(),
                        kind,
                        Described.text(refused),
                        refused));
            }
        }
        if (last != null && SqlState.connectionLost(last)) {
            throw last;
        }
    }

    private void rescueTogether(List<Expired> jobs) throws SQLException {
        List<AlertRaised> raised = new ArrayList<>();
        List<Rescued> rescued = connection.inTransaction(open -> rescue(open, jobs, raised));
        deaths.tell(raised);
        rescued.forEach(this::tell);
    }

    private List<Rescued> rescue(Connection open, List<Expired> jobs, List<AlertRaised> raised) throws SQLException {
        TreeSet<OrderingKey> wanted = new TreeSet<>();
        jobs.stream().map(Expired::key).filter(Objects::nonNull).forEach(wanted::add);
        Map<OrderingKey, LockedKey> locked = new TreeMap<>();
        if (!wanted.isEmpty()) {
            keys.lock(open, wanted).forEach(key -> locked.put(key.key(), key));
        }
        Map<Long, LockedKey> keyOf = new HashMap<>();
        List<Long> ids = new ArrayList<>();
        for (Expired job : jobs) {
            LockedKey key = job.key() == null ? null : locked.get(job.key());
            if (key != null) {
                keyOf.put(job.id(), key);
            }
            if (key != null || job.key() == null) {
                ids.add(job.id());
            }
        }
        List<Rescued> rescued = sql.rescue(open, ids, maxAttempts);
        died(open, rescued.stream().filter(Rescued::dead).toList(), keyOf, raised);
        if (!locked.isEmpty()) {
            keys.settle(open, locked.keySet());
        }
        return rescued;
    }

    private void died(Connection open, List<Rescued> dead, Map<Long, LockedKey> keyOf, List<AlertRaised> raised)
            throws SQLException {
        List<Blocker> blockers = dead.stream()
                .filter(job -> keyOf.containsKey(job.id()))
                .map(job -> new Blocker(Objects.requireNonNull(keyOf.get(job.id())), job.id()))
                .toList();
        List<Long> blocking = blockers.isEmpty() ? List.of() : keys.block(open, blockers);
        deaths.died(
                open,
                dead.stream()
                        .map(job -> new DyingJob(job.id(), job.kind(), job.attempts(), WORKER_LOST))
                        .toList(),
                blocking,
                raised);
    }

    private void tell(Rescued job) {
        LOG.warn(
                "The worker of a job was lost; the job {} (job={}, kind={}, attempts={}, worker={})",
                job.dead() ? "has used up its attempts and is dead" : "will run again alone",
                job.id(),
                job.kind(),
                job.attempts(),
                job.worker());
        told.events().tell(new JobRescued(job.id(), job.queue(), job.kind(), job.attempts(), job.worker()));
        if (job.dead()) {
            told.events().tell(new JobDied(job.id(), job.queue(), job.kind(), job.attempts(), WORKER_LOST));
        } else if (job.deduplicated()) {
            told.keyless().accept(job.id());
        }
    }
}
