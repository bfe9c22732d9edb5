package io.rowlock.benchmark.load;

import io.rowlock.Rowlock;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import javax.sql.DataSource;

/** A Rowlock of a trial, and jobs for it. */
record Backlog(Rowlock rowlock, DataSource pool) {
    private static final int BATCH = 5_000;
    private static final int CONNECTIONS = 10;

    static Backlog empty(Trial trial) {
        return empty(trial, CONNECTIONS);
    }

    private static Backlog empty(Trial trial, int connections) {
        DataSource pool = trial.pool(connections);
        Rowlock rowlock =
                Rowlock.builder().dataSource(pool).schema(trial.schema().name()).build();
        rowlock.schema().install();
        return new Backlog(rowlock, pool);
    }

    static Backlog of(Trial trial, int jobs) throws SQLException {
        return of(trial, jobs, CONNECTIONS);
    }

    static Backlog of(Trial trial, int jobs, int connections) throws SQLException {
        return empty(trial, connections).add(jobs, (number, job) -> {});
    }

    /** Writes jobs in batches, a transaction each. */
    Backlog add(int jobs, BiConsumer<Integer, JobOptions> options) throws SQLException {
        for (int from = 0; from < jobs; from += BATCH) {
            List<JobRequest<?>> batch = new ArrayList<>();
            for (int i = from; i < Math.min(jobs, from + BATCH); i++) {
                int number = i;
                batch.add(JobRequest.of(Noop.of(i), job -> options.accept(number, job)));
            }
            try (Connection connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                rowlock.outbox().enqueueAll(connection, batch);
                connection.commit();
                connection.setAutoCommit(true);
            }
        }
        return this;
    }
}
