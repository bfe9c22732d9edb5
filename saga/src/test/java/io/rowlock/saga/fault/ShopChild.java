package io.rowlock.saga.fault;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockListener;
import io.rowlock.saga.StepContext;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A process that drives the sagas of {@link Shop}, and waits in one of the calls until it is told to go on. Says {@code in
 * CALL} then, and {@code event ...} for each event. Any line is the word to go on.
 */
final class ShopChild {
    private ShopChild() {}

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = TestSchema.existing(TestPostgres.shared(), arguments[0]);
        Books books = Books.existing(schema, arguments[1], "child");
        Rowlock rowlock = Rowlock.builder()
                .connections(schema::connect)
                .schema(schema.name())
                .listener(saying())
                .build();
        CountDownLatch goOn = new CountDownLatch(1);
        Shop shop = new Shop(books, new Waits(arguments[2], goOn), Duration.ofMinutes(5));
        rowlock.worker(worker -> Scene.engine(rowlock, "default", shop.all())
                        .on(worker)
                        .poll(Duration.ofMillis(50))
                        .lease(Scene.LEASE))
                .start();
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            goOn.countDown();
        }
        Runtime.getRuntime().halt(1); // the test is gone
    }

    private static RowlockListener saying() {
        return event -> System.out.println("event " + event);
    }

    private record Waits(String where, CountDownLatch goOn) implements Around {
        @Override
        public void before(String call, Purchase purchase, StepContext step) {
            if (call.equals(where)) {
                System.out.println("in " + call);
                Gates.awaitDeaf(goOn);
            }
        }

        @Override
        public void after(String call, Purchase purchase, StepContext step) {
            if (call.equals(where)) {
                System.out.println("out of " + call);
            }
        }
    }
}
