package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.AlertRaised;
import io.rowlock.internal.engine.KeyedRecorder.Written;
import io.rowlock.internal.engine.Outcome.Completed;
import io.rowlock.internal.engine.Outcome.Died;
import io.rowlock.internal.engine.Outcome.PutBack;
import io.rowlock.internal.engine.Outcome.RecordedByHandler;
import io.rowlock.internal.engine.Outcome.Retried;
import io.rowlock.internal.engine.OutcomeWriter.Fate;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records outcomes under their leases: those of one sort together, those with ordering keys by a {@link KeyedRecorder}.
 * What did not come back from a statement is asked for again: still ours means merely locked by somebody, else the lease
 * is lost.
 */
final class Recorder {
    private static final Logger LOG = LoggerFactory.getLogger(Recorder.class);
    private static final Duration AFTER_FAILED_HOOK = Duration.ofHours(1);
    private static final List<Class<? extends Outcome>> LIVING = List.of(Completed.class, Retried.class, PutBack.class);

    private final EngineConnection connection;
    private final OutcomeWriter writer;
    private final KeyedRecorder keyed;
    private final Deaths deaths;
    private final Aftermath aftermath;

    Recorder(
            EngineConnection connection,
            OutcomeWriter writer,
            KeyedRecorder keyed,
            Deaths deaths,
            Aftermath aftermath) {
        this.connection = connection;
        this.writer = writer;
        this.keyed = keyed;
        this.deaths = deaths;
        this.aftermath = aftermath;
    }

    /**
     * Records all; gives those whose rows or keys were locked by others, to be tried again. One worker may have two
     * outcomes of one job, when it lost the first claim and took the job again: they go one after the other, as what a
     * statement wrote is told by id.
     */
    List<Settled> record(List<Settled> batch) throws SQLException {
        Map<Long, Settled> once = new LinkedHashMap<>();
        List<Settled> again = new ArrayList<>();
        for (Settled settled : batch) {
            if (once.putIfAbsent(settled.job().id(), settled) != null) {
                again.add(settled);
            }
        }
        List<Settled> busy = new ArrayList<>(recordEachOnce(List.copyOf(once.values())));
        busy.addAll(again.isEmpty() ? List.of() : record(again));
        return busy;
    }

    private List<Settled> recordEachOnce(List<Settled> batch) throws SQLException {
        try {
            List<Settled> busy = new ArrayList<>();
            List<Settled> withKey = new ArrayList<>();
            List<Settled> plain = new ArrayList<>();
            for (Settled settled : spareCancelled(batch)) {
                boolean key = settled.job().row().key() != null && !(settled.outcome() instanceof RecordedByHandler);
                (key ? withKey : plain).add(settled);
            }
            for (Class<? extends Outcome> sort : LIVING) {
                List<Settled> jobs = OutcomeWriter.of(plain, sort);
                if (!jobs.isEmpty()) {
                    busy.addAll(rest(jobs, connection.call(open -> writer.writeLiving(open, jobs))));
                }
            }
            busy.addAll(verify(OutcomeWriter.of(plain, RecordedByHandler.class)));
            busy.addAll(bury(OutcomeWriter.of(plain, Died.class)));
            busy.addAll(recordKeyed(withKey));
            return busy;
        } catch (SQLException e) {
            aftermath.doubt(batch);
            throw e;
        }
    }

    /** What failed for good before it was told of its cancel goes back, and is cancelled as it waits. */
    private List<Settled> spareCancelled(List<Settled> batch) throws SQLException {
        List<Long> dying = batch.stream()
                .filter(each -> each.outcome() instanceof Died died && !died.timedOut())
                .map(each -> each.job().id())
                .toList();
        if (dying.isEmpty()) {
            return batch;
        }
        Set<Long> spared = connection.call(open -> deaths.spared(open, dying));
        return batch.stream()
                .map(each -> spared.contains(each.job().id()) ? new Settled(each.job(), Outcome.UNTIL_CANCELLED) : each)
                .toList();
    }

    /** Gives up on an outcome: its job is no longer kept up here. */
    void forget(Settled settled) {
        aftermath.forget(settled);
    }

    /**
     * The handler's own transaction should have ended the lease. Where it did not, it never committed, whatever the
     * handler returned: the attempt has failed, or ends as it would have without. Also the answer to an error during
     * COMMIT, which tells nothing.
     */
    private List<Settled> verify(List<Settled> jobs) throws SQLException {
        if (jobs.isEmpty()) {
            return jobs;
        }
        Map<Long, Fate> fates = connection.call(open -> writer.fates(open, jobs));
        List<Settled> failed = new ArrayList<>();
        for (Settled settled : jobs) {
            switch (fates.getOrDefault(settled.job().id(), Fate.LOST)) {
                case ENDED -> aftermath.recorded(settled);
                case HELD -> failed.add(new Settled(settled.job(), notCommitted(settled)));
                case LOST -> aftermath.lost(settled);
            }
        }
        return failed.isEmpty() ? List.of() : record(failed);
    }

    private static Outcome notCommitted(Settled settled) {
        if (settled.job().isCancelRequested()) {
            return Outcome.UNTIL_CANCELLED;
        }
        return settled.outcome() instanceof RecordedByHandler byHandler && byHandler.otherwise() != null
                ? byHandler.otherwise()
                : Verdicts.onThrow(
                        settled.job(),
                        new IllegalStateException(
                                "the handler returned, but the transaction that completed the job was not committed"));
    }

    private List<Settled> bury(List<Settled> jobs) throws SQLException {
        List<Settled> busy = new ArrayList<>();
        List<Settled> together = new ArrayList<>();
        for (Settled settled : jobs) {
            if (deaths.hooked(settled.job().kind())) {
                busy.addAll(alone(settled, () -> buryTogether(List.of(settled))));
            } else {
                together.add(settled);
            }
        }
        busy.addAll(together.isEmpty() ? List.of() : buryTogether(together));
        return busy;
    }

    private List<Settled> buryTogether(List<Settled> jobs) throws SQLException {
        List<AlertRaised> raised = new ArrayList<>();
        Set<Long> written = connection.inTransaction(open -> {
            Set<Long> buried = writer.bury(open, jobs);
            deaths.died(
                    open,
                    jobs.stream()
                            .filter(settled -> buried.contains(settled.job().id()))
                            .map(OutcomeWriter::dying)
                            .toList(),
                    List.of(),
                    raised);
            return buried;
        });
        deaths.tell(raised);
        return rest(jobs, written);
    }

    private List<Settled> recordKeyed(List<Settled> jobs) throws SQLException {
        List<Settled> busy = new ArrayList<>();
        List<Settled> together = new ArrayList<>();
        for (Settled settled : jobs) {
            if (settled.outcome() instanceof Died && deaths.hooked(settled.job().kind())) {
                busy.addAll(alone(settled, () -> recordKeyedTogether(List.of(settled))));
            } else {
                together.add(settled);
            }
        }
        busy.addAll(together.isEmpty() ? List.of() : recordKeyedTogether(together));
        return busy;
    }

    private List<Settled> recordKeyedTogether(List<Settled> jobs) throws SQLException {
        Written written = keyed.write(jobs);
        List<Settled> busy = new ArrayList<>(written.busy());
        busy.addAll(rest(written.tried(), written.ids()));
        return busy;
    }

    @FunctionalInterface
    private interface Burial {
        List<Settled> bury() throws SQLException;
    }

    /**
     * A death that a hook may refuse, or break: it may have lost the connection, too. If the database itself is away, the
     * job cannot be put back either, and the death is tried again.
     */
    private List<Settled> alone(Settled settled, Burial burial) throws SQLException {
        try {
            return burial.bury();
        } catch (Deaths.HookFailedException | SQLException refused) {
            Described.quietly(() -> LOG.error(
                    "A death hook refused; the job comes back in {} (job={}, kind={}): {}",
                    AFTER_FAILED_HOOK,
                    settled.job().id(),
                    settled.job().kind(),
                    Described.text(refused),
                    refused));
            return record(List.of(
                    new Settled(settled.job(), new Retried(AFTER_FAILED_HOOK, false, Failures.failure(refused)))));
        }
    }

    /** Tells what was written, and finds out about what was not. */
    private List<Settled> rest(List<Settled> jobs, Set<Long> written) throws SQLException {
        List<Settled> missing = new ArrayList<>();
        for (Settled settled : jobs) {
            if (written.contains(settled.job().id())) {
                aftermath.recorded(settled);
            } else {
                missing.add(settled);
            }
        }
        if (missing.isEmpty()) {
            return missing;
        }
        Set<Long> held = connection.call(open -> writer.stillHeld(open, missing));
        List<Settled> busy = new ArrayList<>();
        for (Settled settled : missing) {
            if (held.contains(settled.job().id())) {
                busy.add(settled);
            } else {
                aftermath.lost(settled);
            }
        }
        return busy;
    }
}
