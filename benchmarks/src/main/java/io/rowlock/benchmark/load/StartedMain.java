package io.rowlock.benchmark.load;

import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A worker process that keeps in mind when each handler began, and writes it down when it is asked to report. */
final class StartedMain {
    static final String TABLE = "CREATE TABLE started (number bigint, micros bigint)";

    private StartedMain() {}

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = Children.schema(arguments);
        Map<Long, Long> started = new ConcurrentHashMap<>();
        Worker worker = Children.rowlock(schema, Boolean.parseBoolean(arguments[1]))
                .worker(w -> w.queue("default", 8)
                        .poll(Duration.ofSeconds(1))
                        .keepCompleted(Duration.ZERO)
                        .handle(Noop.class, (payload, job) -> started.put(payload.number(), Micros.now())));
        worker.start();
        System.out.println("ready");
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        if (asked.readLine() != null) {
            report(schema, started);
            System.out.println("reported");
        }
        worker.stop(Duration.ofSeconds(10));
    }

    private static void report(TestSchema schema, Map<Long, Long> started) throws SQLException {
        try (Connection connection = schema.begin();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO started VALUES (?, ?)")) {
            for (Map.Entry<Long, Long> each : started.entrySet()) {
                insert.setLong(1, each.getKey());
                insert.setLong(2, each.getValue());
                insert.addBatch();
            }
            insert.executeBatch();
            connection.commit();
        }
    }
}
