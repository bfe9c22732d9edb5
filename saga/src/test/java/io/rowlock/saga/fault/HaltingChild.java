package io.rowlock.saga.fault;

import io.rowlock.Rowlock;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.StepContext;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * A process that drives many sagas, each up to a point of its own, where it stands still; when all stand there, the process
 * halts. Each saga has a queue of its own, which is named like it. Sagas that are to stop at a commit have workers of their
 * own, as those that share one share its commits.
 */
final class HaltingChild {
    static final int HALTED = 9;

    private static final Duration LONG = Duration.ofMinutes(2);
    private static final Duration LEASE = Duration.ofSeconds(5);

    private HaltingChild() {}

    /** Where a saga stands still: its name says {@code type/point/which}. */
    record Scenario(String type, Point point, String which) {
        static Scenario parse(String name) {
            String[] parts = name.split("/", -1);
            return new Scenario(parts[0], Point.valueOf(parts[1]), parts[2]);
        }

        String name() {
            return type + '/' + point + '/' + which;
        }
    }

    /** Before or after a call, or a commit that records a saga, counted from 1. */
    enum Point {
        BEFORE_CALL,
        AFTER_CALL,
        BEFORE_COMMIT,
        AFTER_COMMIT;

        boolean ofCall() {
            return this == BEFORE_CALL || this == AFTER_CALL;
        }
    }

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = TestSchema.existing(TestPostgres.shared(), arguments[0]);
        Books books = Books.existing(schema, arguments[1], "child");
        List<Scenario> scenarios =
                Stream.of(arguments).skip(2).map(Scenario::parse).toList();
        CountDownLatch missing = new CountDownLatch(scenarios.size());
        List<Scenario> atCalls =
                scenarios.stream().filter(each -> each.point().ofCall()).toList();
        work(schema, schema::connect, new AtCalls(missing), books, atCalls);
        for (Scenario each : scenarios) {
            if (!each.point().ofCall()) {
                ConnectionSource connections = new WatchedConnections(schema::connect, new AtCommit(each, missing));
                work(schema, connections, new Around() {}, books, List.of(each));
            }
        }
        System.out.println("started");
        missing.await();
        Runtime.getRuntime().halt(HALTED);
    }

    private static void work(
            TestSchema schema, ConnectionSource connections, Around around, Books books, List<Scenario> scenarios) {
        Rowlock rowlock = Scene.rowlock(schema, connections);
        SagaDefinition<?>[] definitions = new Shop(books, around, LONG).all();
        rowlock.worker(worker -> {
                    Scene.engine(rowlock, "default", definitions).on(worker);
                    worker.lease(LEASE).poll(Duration.ofMillis(100));
                    scenarios.forEach(each -> worker.queue(each.name(), 1));
                })
                .start();
    }

    private static void standStill(String where, CountDownLatch missing) {
        System.out.println("stands still at " + where);
        missing.countDown();
        Gates.awaitDeaf(new CountDownLatch(1));
    }

    private record AtCalls(CountDownLatch missing) implements Around {
        @Override
        public void before(String call, Purchase purchase, StepContext step) {
            at(Point.BEFORE_CALL, call, step);
        }

        @Override
        public void after(String call, Purchase purchase, StepContext step) {
            at(Point.AFTER_CALL, call, step);
        }

        private void at(Point point, String call, StepContext step) {
            Scenario scenario = Scenario.parse(step.sagaId());
            if (scenario.point() == point && scenario.which().equals(call)) {
                standStill(scenario.name(), missing);
            }
        }
    }

    private static final class AtCommit implements WatchedConnections.Watch {
        private final Scenario scenario;
        private final CountDownLatch missing;
        private final AtomicInteger commits = new AtomicInteger();

        AtCommit(Scenario scenario, CountDownLatch missing) {
            this.scenario = scenario;
            this.missing = missing;
        }

        @Override
        public void beforeCommit(Set<String> statements) {
            if (statements.contains(WatchedConnections.RECORD)
                    && commits.incrementAndGet() == Integer.parseInt(scenario.which())
                    && scenario.point() == Point.BEFORE_COMMIT) {
                standStill(scenario.name(), missing);
            }
        }

        @Override
        public void afterCommit(Set<String> statements) {
            if (statements.contains(WatchedConnections.RECORD)
                    && commits.get() == Integer.parseInt(scenario.which())
                    && scenario.point() == Point.AFTER_COMMIT) {
                standStill(scenario.name(), missing);
            }
        }
    }
}
