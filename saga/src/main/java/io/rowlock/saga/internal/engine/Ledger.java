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
import io.rowlock.saga.internal.sql.SignalRow;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads and records sagas, those of many drivers together: one commit for all that have something to record at the same
 * time. Over a connection of its own. For many threads.
 */
public final class Ledger implements AutoCloseable {
    private static final int MOST = 100;
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(15);
    private static final Duration AWAY_PAUSE = Duration.ofSeconds(1);

    private final EngineConnection connection;
    private final LoadSql loads;
    private final RecordSql records;
    private final Turns<String, Optional<Loaded>> loading;
    private final Turns<Entry, Answer> recording;

    /**
     * @param connections where its connection comes from
     * @param due tells workers that jobs were written
     */
    public Ledger(ConnectionSource connections, LoadSql loads, RecordSql records, Runnable due) {
        this.connection = new EngineConnection(connections, ANSWER_WITHIN);
        this.loads = loads;
        this.records = records;
        this.loading = new Turns<>(MOST, this::loadAll);
        this.recording = new Turns<>(MOST, new Scribe(connection, records, due)::recordAll);
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
        boolean isPlain() {
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

    @Override
    public void close() {
        connection.close();
    }
}
