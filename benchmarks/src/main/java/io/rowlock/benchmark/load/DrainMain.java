package io.rowlock.benchmark.load;

import io.rowlock.Rowlock;
import io.rowlock.job.JobRequest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/** A worker process that warms up on a queue of its own, waits for its start, and works until it is told to stop. */
final class DrainMain {
    private static final Duration GRACE = Duration.ofSeconds(10);

    private DrainMain() {}

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = Children.schema(arguments);
        Rowlock rowlock = Children.rowlock(schema, false);
        warmUp(schema, rowlock, Integer.parseInt(arguments[1]));
        Worker worker = worker(rowlock, "default", () -> {});
        BufferedReader told = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        System.out.println("ready");
        if (told.readLine() != null) {
            worker.start();
            told.readLine();
            worker.stop(GRACE);
        }
    }

    private static void warmUp(TestSchema schema, Rowlock rowlock, int jobs) throws Exception {
        String queue = "warm-up-" + ProcessHandle.current().pid();
        try (Connection connection = schema.begin()) {
            rowlock.outbox()
                    .enqueueAll(
                            connection,
                            IntStream.range(0, jobs)
                                    .mapToObj(i -> JobRequest.of(Noop.of(i), job -> job.queue(queue)))
                                    .toList());
            connection.commit();
        }
        CountDownLatch left = new CountDownLatch(jobs);
        Worker worker = worker(rowlock, queue, left::countDown);
        worker.start();
        left.await();
        worker.stop(GRACE);
    }

    private static Worker worker(Rowlock rowlock, String queue, Runnable ran) {
        return rowlock.worker(
                w -> w.queue(queue, 32).keepCompleted(Duration.ZERO).handle(Noop.class, (payload, job) -> ran.run()));
    }
}
