package io.rowlock.fault;

import io.rowlock.job.JobContext;
import io.rowlock.job.JobHandler;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.Snooze;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The handler of {@link Task}: notes each start in table {@code started} and each return in {@code ended}. */
final class Deeds implements JobHandler<Task> {
    private final TestSchema schema;
    private final String who;
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private final Map<Long, Integer> runs = new ConcurrentHashMap<>();
    private volatile boolean open;
    private Connection connection;

    /** @param who the name under which it notes its deeds */
    Deeds(TestSchema schema, String who) {
        this.schema = schema;
        this.who = who;
    }

    /** Lets the task of this name go on, here. */
    void open(String name) {
        gate(name).countDown();
    }

    /** Lets all go on that wait now or later. */
    void openAll() {
        open = true;
        gates.values().forEach(CountDownLatch::countDown);
    }

    @Override
    public void handle(Task task, JobContext job) throws Exception {
        note(
                "INSERT INTO started (job_id, name, attempt, token, who) VALUES (?, ?, ?, ?, ?)",
                job.id(),
                task.name(),
                job.attempt(),
                job.token(),
                who);
        switch (task.waits()) {
            case NO -> {}
            case A_WHILE -> new CountDownLatch(1).await(50, TimeUnit.MILLISECONDS);
            case AT_GATE -> gate(task.name()).await();
            case STUBBORNLY -> awaitStubbornly(gate(task.name()));
        }
        int run = Math.max(job.attempt(), runs.merge(job.id(), 1, Integer::sum));
        end(run <= task.times() ? task.end() : Task.End.RETURN);
        note(
                "INSERT INTO ended (job_id, name, attempt, who) VALUES (?, ?, ?, ?)",
                job.id(),
                task.name(),
                job.attempt(),
                who);
    }

    /** All over one connection, so that hundreds of handlers at once are no hundreds of connections. */
    private synchronized void note(String sql, Object... values) throws SQLException {
        if (connection == null) {
            connection = schema.connect();
        }
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            statement.executeUpdate();
        } catch (SQLException e) {
            connection.close();
            connection = null;
            throw e;
        }
    }

    /** Lets all go on, and closes what it notes over. */
    synchronized void close() throws SQLException {
        openAll();
        if (connection != null) {
            connection.close();
        }
    }

    private static void end(Task.End end) {
        switch (end) {
            case RETURN -> {}
            case THROW -> throw new IllegalStateException("thrown as told");
            case FAIL_FOR_GOOD -> throw new PermanentFailure("failed for good as told");
            case SNOOZE -> throw new Snooze(Duration.ofMillis(100));
            case HALT_THE_JVM -> Runtime.getRuntime().halt(137);
        }
    }

    private CountDownLatch gate(String name) {
        CountDownLatch gate = gates.computeIfAbsent(name, absent -> new CountDownLatch(1));
        if (open) {
            gate.countDown();
        }
        return gate;
    }

    static void awaitStubbornly(CountDownLatch gate) {
        boolean interrupted = true;
        while (interrupted) {
            try {
                gate.await();
                interrupted = false;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }
}
