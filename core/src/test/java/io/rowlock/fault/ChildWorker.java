package io.rowlock.fault;

import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent;
import io.rowlock.fault.StallingTransactions.Point;
import io.rowlock.job.JobKind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.ChildJvmOptions;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.DriverManager;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;

/**
 * A worker in a JVM of its own that does {@link Task}s. Says {@code event ...} for each event. Takes lines: {@code open
 * NAME} opens a gate, {@code commit} lets a stalled transaction go on, {@code clock DURATION} sets a {@link ShiftedClock} and says {@code
 * clock INSTANT}, {@code take NAME} tries to take a lease and says {@code taken NAME} or {@code refused NAME}, {@code stop MILLIS} stops the
 * worker with that grace period and ends the JVM.
 */
final class ChildWorker {
    private static final String NAME = "fault.name";
    private static final String LEASE = "fault.lease";
    private static final String ATTEMPTS = "fault.attempts";
    private static final String CONCURRENCY = "fault.concurrency";
    private static final String GRACE_AT_EXIT = "fault.grace";
    private static final String STALL_AT = "fault.stall-at";
    private static final String POLL = "fault.poll";
    private static final String NOTIFICATIONS = "fault.notifications";
    private static final String URL_SUFFIX = "fault.url-suffix";

    private ChildWorker() {}

    /** What a test may change. */
    record Options(ChildJvmOptions jvm) {
        Options lease(Duration lease) {
            jvm.property(LEASE, Long.toString(lease.toMillis()));
            return this;
        }

        Options attempts(int most) {
            jvm.property(ATTEMPTS, Integer.toString(most));
            return this;
        }

        Options concurrency(int most) {
            jvm.property(CONCURRENCY, Integer.toString(most));
            return this;
        }

        /** Makes a shutdown hook stop the worker with this grace period. */
        Options graceAtExit(Duration grace) {
            jvm.property(GRACE_AT_EXIT, Long.toString(grace.toMillis()));
            return this;
        }

        /** Makes the transaction of a {@link Booking} stand still at this point. */
        Options stallAt(Point point) {
            jvm.property(STALL_AT, point.name());
            return this;
        }

        Options poll(Duration poll) {
            jvm.property(POLL, Long.toString(poll.toMillis()));
            return this;
        }

        /** Makes the processes tell each other of commits. */
        Options notifications() {
            jvm.property(NOTIFICATIONS, "true");
            return this;
        }

        /** Adds parameters to the JDBC URL of the worker. */
        Options url(String suffix) {
            jvm.property(URL_SUFFIX, suffix);
            return this;
        }
    }

    /** Starts the JVM; the worker says when it has started. */
    static ChildJvm launch(TestSchema schema, String who, Consumer<Options> options) {
        return ChildJvm.start(ChildWorker.class, jvm -> {
            jvm.sharing(schema.server())
                    .property(NAME, who)
                    .arguments(schema.name())
                    .jvmArguments("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m");
            options.accept(new Options(jvm));
        });
    }

    /** Starts the JVM, and waits until its worker claims; gives that worker's id. */
    static String awaitStarted(ChildJvm child) throws InterruptedException {
        String line = child.awaitLine("event WorkerStarted", Scene.SOON);
        return line.substring(line.indexOf("worker=") + "worker=".length(), line.indexOf(']'));
    }

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = TestSchema.existing(TestPostgres.shared(), arguments[0]);
        String who = System.getProperty(NAME);
        String url = schema.url() + System.getProperty(URL_SUFFIX, "");
        Deeds deeds = new Deeds(schema, who);
        ConnectionSource connections = () -> DriverManager.getConnection(url, schema.user(), schema.password());
        Rowlock rowlock = Rowlock.builder()
                .connections(connections)
                .schema(schema.name())
                .notifications(Boolean.getBoolean(NOTIFICATIONS))
                .listener(ChildWorker::say)
                .build();
        RetryPolicy retry = Scene.AT_ONCE.maxAttempts(Integer.getInteger(ATTEMPTS, 20));
        StallingTransactions transactions =
                new StallingTransactions(connections, Point.valueOf(System.getProperty(STALL_AT, "NOWHERE")));
        Worker worker = rowlock.worker(settings -> settings.name(who)
                .lease(Duration.ofMillis(Long.getLong(LEASE, Scene.LEASE.toMillis())))
                .poll(Duration.ofMillis(Long.getLong(POLL, 50)))
                .queue("default", Integer.getInteger(CONCURRENCY, 10))
                .handle(Task.class, deeds, options -> options.retry(retry))
                .handleTransactionally(
                        JobKind.of(Booking.class),
                        transactions,
                        Booking.handler(who),
                        options -> options.retry(retry)));
        Long grace = Long.getLong(GRACE_AT_EXIT);
        if (grace != null) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> worker.stop(Duration.ofMillis(grace))));
        }
        worker.start();
        obey(rowlock, worker, deeds, transactions);
    }

    private static void say(RowlockEvent event) {
        System.out.println("event " + event);
    }

    private static void obey(Rowlock rowlock, Worker worker, Deeds deeds, StallingTransactions transactions)
            throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            String[] words = order.split(" ", 2);
            if (words[0].equals("open")) {
                deeds.open(words[1]);
            } else if (words[0].equals("commit")) {
                transactions.goOn();
            } else if (words[0].equals("clock")) {
                ShiftedClock.set(Duration.parse(words[1]));
                System.out.println("clock " + Instant.now());
            } else if (words[0].equals("take")) {
                boolean taken = rowlock.leases().tryTake(words[1], Scene.LEASE).isPresent();
                System.out.println((taken ? "taken " : "refused ") + words[1]);
            } else if (words[0].equals("stop")) {
                worker.stop(Duration.ofMillis(Long.parseLong(words[1])));
                System.exit(0);
            }
        }
        Runtime.getRuntime().halt(1); // the test is gone
    }
}
