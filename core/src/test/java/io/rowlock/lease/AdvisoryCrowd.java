package io.rowlock.lease;

import io.rowlock.Rowlock;
import io.rowlock.error.RowlockException;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Threads of one process that lead by one advisory lock at random, some over the same leader, and write over its session. Alone in
 * a JVM it says {@code wrong ...} for each fault, and {@code closed THREADS} at the end: the names of those that are left.
 */
final class AdvisoryCrowd {
    static final String LEADER = "crowd";
    private static final int LEADERS = 2;
    private static final int THREADS_OF_EACH = 3;

    private final String who;
    private final List<AdvisoryLeader> leaders = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

    /** Begins at once. */
    AdvisoryCrowd(TestSchema schema, String who, long seed, Duration time) {
        this.who = who;
        PGSimpleDataSource source = schema.dataSource();
        source.setApplicationName(who);
        long until = System.nanoTime() + time.toNanos();
        for (int i = 0; i < LEADERS * THREADS_OF_EACH; i++) {
            if (i % THREADS_OF_EACH == 0) {
                leaders.add(Rowlock.builder()
                        .dataSource(source)
                        .schema(schema.name())
                        .build()
                        .advisoryLeader(LEADER));
            }
            AdvisoryLeader leader = leaders.get(i / THREADS_OF_EACH);
            Random random = new Random(seed + i);
            Thread thread = new Thread(() -> lead(leader, random, until), "crowd-" + i);
            threads.add(thread);
            thread.start();
        }
    }

    static ChildJvm launch(TestSchema schema, String who, long seed, Duration time) {
        return ChildJvm.start(
                AdvisoryCrowd.class,
                jvm -> jvm.sharing(schema.server())
                        .arguments(schema.name(), who, Long.toString(seed), time.toString())
                        .jvmArguments("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"));
    }

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = TestSchema.existing(TestPostgres.shared(), arguments[0]);
        AdvisoryCrowd crowd =
                new AdvisoryCrowd(schema, arguments[1], Long.parseLong(arguments[2]), Duration.parse(arguments[3]));
        System.out.println("leading");
        crowd.close().forEach(each -> System.out.println("wrong " + each));
        long until = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!threadsLeft().isEmpty() && System.nanoTime() < until) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
        System.out.println("closed " + threadsLeft());
        System.in.read(); // until the test has looked
        Runtime.getRuntime().halt(1);
    }

    /** Waits for all to end, closes the leaders, and gives what was wrong. */
    List<String> close() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
        leaders.forEach(AdvisoryLeader::close);
        return List.copyOf(wrong);
    }

    /** Threads of the leaders that this process still has. */
    static List<String> threadsLeft() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.contains("leader-session-" + LEADER) || name.contains("lease-lost-" + LEADER))
                .toList();
    }

    private void lead(AdvisoryLeader leader, Random random, long until) {
        while (System.nanoTime() < until) {
            try {
                step(leader, random);
            } catch (RowlockException lost) {
                rest(random, 5); // killed, or released by another thread
            } catch (SQLException e) {
                if (!e.getSQLState().matches("57P01|08.*")) {
                    wrong.add(e.getSQLState() + ' ' + e.getMessage());
                }
            } catch (Exception e) {
                wrong.add(e.toString());
            }
            if (Thread.interrupted()) {
                wrong.add("an interrupt of the leader was left to the caller");
            }
            rest(random, 10);
        }
    }

    private void step(AdvisoryLeader leader, Random random) throws Exception {
        switch (random.nextInt(8)) {
            case 0 -> leader.tryAcquire();
            case 1 -> leader.release();
            case 2 -> leader.withLeaderLock(() -> rest(random, 10));
            default -> leader.withLeaderSession(session -> write(session, random));
        }
    }

    /** A row that says from when to when it was written; the database lets no two of them overlap. */
    private void write(Connection session, Random random) throws SQLException {
        try (var statement = session.createStatement();
                PreparedStatement insert = session.prepareStatement(
                        "INSERT INTO led (who, during) VALUES (?, tstzrange(?::timestamptz, clock_timestamp()))")) {
            try (var row = statement.executeQuery("SELECT clock_timestamp()::text")) {
                row.next();
                insert.setString(1, who);
                insert.setString(2, row.getString(1));
            }
            rest(random, 20);
            insert.executeUpdate();
        }
    }

    private static void rest(Random random, int atMost) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(atMost)));
    }
}
