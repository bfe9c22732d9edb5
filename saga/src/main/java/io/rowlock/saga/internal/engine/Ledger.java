package io.rowlock.saga.internal.engine;

import io.rowlock.internal.engine.EngineConnection;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.job.Snooze;
import io.rowlock.saga.internal.engine.Turns.Asked;
import io.rowlock.saga.internal.sql.LoadSql;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import io.rowlock.saga.internal.sql.RecordSql;
import io.rowlock.saga.internal.sql.RecordSql.Locked;
import io.rowlock.saga.internal.sql.RecordSql.Wanted;
import io.rowlock.saga.internal.sql.SagaWrite;
import io.rowlock.saga.internal.sql.SagaWrite.Driver;
import io.rowlock.saga.internal.sql.SignalRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and records sagas, those of many drivers together: one commit for all that have something to record at the same
 * time. One that is refused is found by halving, and keeps nobody else's back. Over one connection of its own. For many
 * threads.
 */
public final class Ledger implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Ledger.class);
    private static final int MOST = 100;
    private static final Duration AWAY_PAUSE = Duration.ofSeconds(1);

    private final EngineConnection connection;
    private final LoadSql loads;
    private final RecordSql records;
    private final Runnable due;
    private final Turns<String, Optional<Loaded>> loading;
    private final Turns<Entry, Answer> recording;

    /** @param due tells workers that jobs were written */
    public Ledger(EngineConnection connection, LoadSql loads, RecordSql records, Runnable due) {
        this.due = due;
        this.connection = connection;
        this.loads = loads;
        this.records = records;
        this.loading = new Turns<>(MOST, this::loadAll);
        this.recording = new Turns<>(MOST, this::recordAll);
    }

    /** More that is to be written in the transaction of a record; takes no locks of others. */
    @FunctionalInterface
    interface Beside {
        void write(Connection connection) throws SQLException;

        /** The transaction in which it was written last is committed. */
        default void committed() {}
    }

    /**
     * What a driver has to record.
     *
     * @param owner the worker that holds the driver
     * @param deletes whether that one deletes completed jobs
     * @param full all of it
     * @param reduced without beginning anything and without waiting
     * @param gives whether the reduced one is to be recorded where a cancel was asked for or the deadline is over
     * @param awaited the signals it wants to wait for: if one is there, the reduced one is recorded
     * @param beside what else is written with either
     * @param besideFull what else is written with the full one only
     */
    record Entry(
            String owner,
            boolean deletes,
            SagaWrite full,
            SagaWrite reduced,
            boolean gives,
            Set<String> awaited,
            List<Beside> beside,
            List<Beside> besideFull) {
        private boolean isPlain() {
            return beside.isEmpty() && besideFull.isEmpty();
        }
    }

    /** What became of an entry. */
    sealed interface Answer {
        /** All is recorded. */
        record Recorded(Locked seen, Instant revision) implements Answer {}

        /** The reduced one is recorded: to be read again. */
        record Reduced(Locked seen, Instant revision) implements Answer {}

        /** Nothing: the saga is not as it was read any more. */
        record Stale() implements Answer {}

        /** Nothing: somebody has its rows locked. */
        record Busy() implements Answer {}

        /** Nothing: the lease is lost. */
        record Lost() implements Answer {}
    }

    /**
     * Reads a saga; empty if there is none.
     *
     * @throws Snooze if the database is away, or refuses its tables for want of a right: the driver comes back, and nobody has failed
     */
    Optional<Loaded> loadOrSnooze(String id) throws SQLException {
        try {
            return loading.ask(id);
        } catch (SQLException e) {
            if (SqlState.curedOutside(e)) {
                throw new Snooze(AWAY_PAUSE);
            }
            throw e;
        }
    }

    /** Records an entry. */
    Answer record(Entry entry) throws SQLException {
        return recording.ask(entry);
    }

    boolean hasSignal(Connection open, String saga, String name) throws SQLException {
        return !records.awaited(open, List.of(new Wanted(saga, name))).isEmpty();
    }

    /** The signals of a saga that have moved nothing, of each name the oldest. */
    List<SignalRow> signals(String saga) throws SQLException {
        return connection.call(open -> loads.signals(open, saga));
    }

    /** For what is rare. */
    <T> T call(EngineConnection.Work<T> work) throws SQLException {
        return connection.call(work);
    }

    private void loadAll(List<Asked<String, Optional<Loaded>>> together) throws SQLException {
        List<String> ids = together.stream().map(Asked::question).distinct().toList();
        Map<String, Loaded> loaded = connection.call(open -> loads.load(open, ids));
        together.forEach(each -> each.answer(Optional.ofNullable(loaded.get(each.question()))));
    }

    /** What is written beside may wait for others, and so goes alone. */
    private void recordAll(List<Asked<Entry, Answer>> together) throws SQLException {
        List<Asked<Entry, Answer>> plain = new ArrayList<>();
        List<Asked<Entry, Answer>> alone = new ArrayList<>();
        Map<String, Asked<Entry, Answer>> once = new HashMap<>();
        for (Asked<Entry, Answer> each : together) {
            Entry entry = each.question();
            boolean first = once.putIfAbsent(entry.full().driver().saga(), each) == null;
            (first && entry.isPlain() ? plain : alone).add(each);
        }
        Map<String, List<Asked<Entry, Answer>>> byOwner = new HashMap<>();
        plain.forEach(each -> byOwner.computeIfAbsent(each.question().owner(), owner -> new ArrayList<>())
                .add(each));
        for (List<Asked<Entry, Answer>> group : byOwner.values()) {
            recordGroup(group);
        }
        for (Asked<Entry, Answer> each : alone) {
            recordGroup(List.of(each));
            due.run();
        }
    }

    private void recordGroup(List<Asked<Entry, Answer>> group) throws SQLException {
        try {
            List<Beside> beside = new ArrayList<>();
            Map<Asked<Entry, Answer>, Answer> answers = connection.inTransaction(open -> write(open, group, beside));
            answers.forEach(Asked::answer);
            beside.forEach(Beside::committed);
        } catch (SQLException e) {
            if (!SqlState.refusesData(e)) {
                throw e;
            }
            if (group.size() == 1) {
                group.get(0).fail(e);
                return;
            }
            LOG.warn("A group of sagas was refused; recording it in halves (sagas={}): {}", group.size(), e.toString());
            recordGroup(group.subList(0, group.size() / 2));
            recordGroup(group.subList(group.size() / 2, group.size()));
        }
    }

    private Map<Asked<Entry, Answer>, Answer> write(
            Connection open, List<Asked<Entry, Answer>> group, List<Beside> beside) throws SQLException {
        String owner = group.get(0).question().owner();
        boolean deletes = group.get(0).question().deletes();
        List<Driver> drivers =
                group.stream().map(each -> each.question().full().driver()).toList();
        Map<String, Locked> locked = records.lock(open, owner, drivers);
        Set<String> moved = records.awaited(open, wanted(group, locked));
        Set<Long> held = locked.size() < group.size() ? records.held(open, owner, drivers) : Set.of();
        Map<Asked<Entry, Answer>, Answer> answers = new HashMap<>();
        List<Chosen> chosen = new ArrayList<>();
        for (Asked<Entry, Answer> each : group) {
            Entry entry = each.question();
            Driver driver = entry.full().driver();
            Locked seen = locked.get(driver.saga());
            if (seen == null) {
                answers.put(each, held.contains(driver.job()) ? new Answer.Busy() : new Answer.Lost());
            } else if (!seen.revision().equals(driver.seen())) {
                answers.put(each, new Answer.Stale());
            } else {
                boolean gives = entry.gives() && (seen.cancel() != null || seen.over());
                chosen.add(new Chosen(each, seen, !gives && !moved.contains(driver.saga())));
            }
        }
        write(open, chosen, deletes, answers);
        for (Beside more : chosen.stream().flatMap(Chosen::beside).toList()) {
            more.write(open);
            beside.add(more);
        }
        return answers;
    }

    /** What is to be written of an entry: all, or the reduced. */
    private record Chosen(Asked<Entry, Answer> asked, Locked seen, boolean all) {
        SagaWrite write() {
            return all ? asked.question().full() : asked.question().reduced();
        }

        Stream<Beside> beside() {
            Entry entry = asked.question();
            return all ? Stream.concat(entry.beside().stream(), entry.besideFull().stream()) : entry.beside().stream();
        }

        Answer answer(Instant revision) {
            return all ? new Answer.Recorded(seen, revision) : new Answer.Reduced(seen, revision);
        }
    }

    private void write(Connection open, List<Chosen> chosen, boolean deletes, Map<Asked<Entry, Answer>, Answer> answers)
            throws SQLException {
        if (chosen.isEmpty()) {
            return;
        }
        String owner = chosen.get(0).asked().question().owner();
        Map<String, Instant> revisions =
                records.write(open, owner, chosen.stream().map(Chosen::write).toList(), deletes);
        for (Chosen each : chosen) {
            Instant revision =
                    Objects.requireNonNull(revisions.get(each.write().driver().saga()), "a locked saga was written");
            answers.put(each.asked(), each.answer(revision));
        }
    }

    private static List<Wanted> wanted(List<Asked<Entry, Answer>> group, Map<String, Locked> locked) {
        List<Wanted> wanted = new ArrayList<>();
        for (Asked<Entry, Answer> each : group) {
            String saga = each.question().full().driver().saga();
            if (locked.containsKey(saga)) {
                each.question().awaited().forEach(name -> wanted.add(new Wanted(saga, name)));
            }
        }
        return wanted;
    }

    @Override
    public void close() {
        connection.close();
    }
}
