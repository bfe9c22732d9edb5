package io.rowlock.saga.internal.engine;

import io.rowlock.alert.AlertCause;
import io.rowlock.internal.engine.DriverLease;
import io.rowlock.internal.engine.LogContext;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobHandler;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Handles the jobs that drive the sagas of one definition. */
final class DriverHandler<S> implements JobHandler<String> {
    /** Of the driver itself: its steps have their own. A record starts the count anew. */
    static final RetryPolicy RETRY = RetryPolicy.exponential(Duration.ofSeconds(1))
            .max(Duration.ofMinutes(1))
            .maxAttempts(20);

    private static final Logger LOG = LoggerFactory.getLogger(DriverHandler.class);
    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration LATER = Duration.ofHours(1);

    private final Parts parts;
    private final Saga<S> definition;

    DriverHandler(Parts parts, Saga<S> definition) {
        this.parts = parts;
        this.definition = definition;
    }

    @Override
    public void handle(String saga, JobContext job) throws Exception {
        LogContext log = LogContext.enter(Map.of("rowlock.saga", saga, "rowlock.saga.name", definition.name()));
        try {
            drive(saga, job);
        } finally {
            log.close();
        }
    }

    private void drive(String saga, JobContext job) throws Exception {
        Hold hold = new Hold((DriverLease) job, job, saga);
        boolean again = true;
        while (again) {
            long askedAt = System.nanoTime();
            Optional<Loaded> loaded = parts.ledger().loadOrSnooze(saga);
            if (loaded.isEmpty() || !drives(job, loaded.get())) {
                LOG.info("A driver has no saga to drive, and ends (job={}, saga={})", job.id(), saga);
                return;
            }
            Instance<S> instance = new Instance<>(definition, parts.codec(), loaded.get(), askedAt);
            Set<String> unknown = Unknowns.of(definition, loaded.get());
            again = unknown.isEmpty()
                    ? new Drive<>(parts, hold, instance).run()
                    : leaveWaiting(hold, instance, unknown);
        }
        if (!hold.isOver() && !hold.takenAway()) {
            throw new Snooze(SOON); // nothing was recorded of its end: a driver that merely returned would be completed
        }
    }

    private static boolean drives(JobContext job, Loaded loaded) {
        Long driver = loaded.saga().driver();
        SagaStatus status = loaded.saga().status();
        return driver != null && driver == job.id() && !status.finished() && !status.needsPerson();
    }

    private boolean leaveWaiting(Hold hold, Instance<S> instance, Set<String> unknown) throws SQLException {
        Recording<S> recording = new Recording<>(parts, hold, instance);
        String why = definition + " was changed under the same version, and does not know what has begun: " + unknown
                + "; bring that back, or give the changed definition a new version";
        recording.beside(parts.relations().alert(AlertCause.SAGA_STEP_UNKNOWN, instance, why));
        recording.putBack(instance.in(LATER), false, Set.of());
        return false;
    }
}
