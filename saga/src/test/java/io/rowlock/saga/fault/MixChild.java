package io.rowlock.saga.fault;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;

/** A process that drives the sagas of {@link Mix} until it is killed, or its input ends. */
final class MixChild {
    private MixChild() {}

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = TestSchema.existing(TestPostgres.shared(), arguments[0]);
        Books books = Books.existing(
                schema, arguments[1], "child-" + ProcessHandle.current().pid());
        Rowlock rowlock = Scene.rowlock(schema, schema::connect);
        rowlock.worker(worker -> Scene.engine(rowlock, "default", new Mix(books, Long.parseLong(arguments[2])).all())
                        .on(worker)
                        .queue("default", 20)
                        .poll(Duration.ofMillis(100))
                        .lease(Scene.LEASE))
                .start();
        System.out.println("started");
        while (System.in.read() >= 0) {
            // says nothing
        }
        Runtime.getRuntime().halt(1); // the test is gone
    }
}
