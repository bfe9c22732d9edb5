package io.rowlock.benchmark.load;

import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.time.Duration;

/** A worker process that waits for its start and works until it is told to stop. */
final class DrainMain {
    private DrainMain() {}

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = Children.schema(arguments);
        Worker worker = Children.rowlock(schema, false)
                .worker(w ->
                        w.queue("default", 32).keepCompleted(Duration.ZERO).handle(Noop.class, (payload, job) -> {}));
        BufferedReader told = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        System.out.println("ready");
        if (told.readLine() != null) {
            worker.start();
            told.readLine();
            worker.stop(Duration.ofSeconds(10));
        }
    }
}
