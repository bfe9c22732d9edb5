package io.rowlock.saga.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.error.CommitUnknownException;
import io.rowlock.error.DatabaseException;
import io.rowlock.idempotency.IdempotencyKey;
import io.rowlock.idempotency.IdempotentRequest;
import io.rowlock.idempotency.Outcome;
import io.rowlock.lease.Part;
import io.rowlock.lease.PartitionMember;
import io.rowlock.lease.Partitions;
import io.rowlock.lease.Term;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.tx.TransactionRetry;
import io.rowlock.tx.Transactions;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * Processes that have one leader among them and share the parts of a feed; clients that write to the feed in retried
 * transactions, and others that pay under idempotency keys: all of them whatever happens, and none looked after.
 */
final class Coordination implements AutoCloseable {
    private static final int PROCESSES = 2;
    private static final int PARTS = 4;
    private static final int KEYS_OF_WRITER = 8;
    private static final int WRITERS = 3;
    private static final int POOL = PARTS + 4; // those of the parts and the leader, and two of the engine
    private static final int A_FEW = 20;
    private static final TransactionRetry IDEMPOTENT =
            TransactionRetry.standard().ofIdempotentWork();

    private final List<Rowlock> processes = new ArrayList<>();
    private final List<PartitionMember> members = new ArrayList<>();
    private final List<Thread> clients = new ArrayList<>();
    private final Set<String> written = ConcurrentHashMap.newKeySet();
    private final Set<String> doubtful = ConcurrentHashMap.newKeySet();
    private final Map<String, Long> paid = new ConcurrentHashMap<>();
    private final AtomicInteger tallied = new AtomicInteger();
    private volatile boolean open = true;

    private Coordination(Cluster cluster) {
        for (int i = 0; i < PROCESSES; i++) {
            DataSource pool = cluster.pool(POOL);
            Rowlock process = Scene.rowlock(cluster.before(), pool::getConnection);
            processes.add(process);
            process.leader(Scene.LEASE).run("tally", term -> tally(pool, term));
            members.add(process.partitions(Scene.LEASE).join("feed", PARTS, part -> consume(pool, part)));
        }
        DataSource pool = cluster.pool(WRITERS + 1);
        for (int i = 0; i < WRITERS; i++) {
            String writer = "writer-" + i;
            start(writer, () -> write(pool, writer));
        }
        start("payer", () -> pay(pool));
    }

    /** Makes the tables where they are written first, and begins. */
    static Coordination begin(Cluster cluster) throws SQLException {
        cluster.before().execute("""
                CREATE TABLE tally (no bigint GENERATED ALWAYS AS IDENTITY, token bigint NOT NULL);
                CREATE TABLE feed (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, part integer NOT NULL, key text NOT NULL,
                                   item text NOT NULL, done boolean NOT NULL DEFAULT false);
                CREATE INDEX ON feed (part, id) WHERE NOT done;
                CREATE TABLE consumed (no bigint GENERATED ALWAYS AS IDENTITY, feed bigint NOT NULL, part integer NOT NULL,
                                       key text NOT NULL, token bigint NOT NULL);
                CREATE TABLE payment (id bigint GENERATED ALWAYS AS IDENTITY, what text NOT NULL);
                """);
        return new Coordination(cluster);
    }

    private void start(String name, Runnable client) {
        Thread thread = new Thread(client, name);
        clients.add(thread);
        thread.start();
    }

    /** Each unit of a leader's work is a row under its fence. One whose commit is unknown is left at that. */
    private void tally(DataSource pool, Term term) throws SQLException {
        while (term.goesOn()) {
            Transactions.retrying(pool, connection -> {
                term.fence(connection);
                return update(connection, "INSERT INTO tally (token) VALUES (?)", term.token());
            });
            tallied.incrementAndGet();
            rest(10);
        }
    }

    /** What is next in a part, in its order, under its fence; what is marked is not done again, so this may be repeated. */
    private static void consume(DataSource pool, Part part) throws SQLException {
        while (part.goesOn()) {
            int consumed = Transactions.retrying(pool, IDEMPOTENT, connection -> {
                part.fence(connection);
                return update(connection, """
                        WITH next AS MATERIALIZED (
                          SELECT id FROM feed WHERE part = ? AND NOT done ORDER BY id LIMIT 20),
                        marked AS (
                          UPDATE feed SET done = true WHERE id IN (SELECT id FROM next) RETURNING id, part, key)
                        INSERT INTO consumed (feed, part, key, token)
                        SELECT id, part, key, ? FROM marked ORDER BY id
                        """, part.number(), part.token());
            });
            if (consumed == 0) {
                rest(20);
            }
        }
    }

    /** Not idempotent, and not declared so: what is answered was done once, what is unknown at most once, what failed not. */
    private void write(DataSource pool, String writer) {
        for (int i = 0; open; i++) {
            String item = writer + '-' + i;
            String key = writer + '-' + i % KEYS_OF_WRITER;
            try {
                Transactions.retrying(
                        pool,
                        connection -> update(
                                connection,
                                "INSERT INTO feed (part, key, item) VALUES (?, ?, ?)",
                                Partitions.partOf(key, PARTS),
                                key,
                                item));
                written.add(item);
            } catch (CommitUnknownException e) {
                doubtful.add(item);
            } catch (SQLException | DatabaseException e) {
                rest(10); // the next one
            }
            rest(5);
        }
    }

    /** Repeats each request under its key until it is answered. */
    private void pay(DataSource pool) {
        for (int i = 0; open; i++) {
            String what = "payment-" + i;
            while (!paid.containsKey(what)) {
                try {
                    paid.put(what, pay(pool, what));
                } catch (SQLException | DatabaseException e) {
                    rest(10); // again, under the same key
                }
            }
            rest(5);
        }
    }

    private long pay(DataSource pool, String what) throws SQLException {
        IdempotentRequest request = IdempotentRequest.of(
                new IdempotencyKey(what), "ada", "POST", "/payments", what.getBytes(StandardCharsets.UTF_8));
        return Transactions.retrying(
                pool,
                IDEMPOTENT,
                connection -> processes
                        .get(0)
                        .idempotencyKeys()
                        .execute(connection, request, Long.class, () -> Outcome.stored(insertPayment(connection, what)))
                        .value());
    }

    private static long insertPayment(Connection connection, String what) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO payment (what) VALUES (?) RETURNING id")) {
            insert.setString(1, what);
            try (ResultSet row = insert.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private static int update(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }

    private static void rest(long millis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /** Waits until every one of them has done something from now on, on the server that is asked, and each part has one member. */
    void awaitGoesOn(TestSchema server) throws SQLException {
        int tallies = tallied.get();
        int items = written.size();
        int payments = paid.size();
        long last = server.count("SELECT coalesce(max(id), 0) FROM feed");
        Scene.patiently().alias("leader").until(() -> tallied.get() >= tallies + A_FEW);
        Scene.patiently().alias("writers").until(() -> written.size() >= items + A_FEW);
        Scene.patiently().alias("payer").until(() -> paid.size() >= payments + A_FEW);
        Scene.patiently()
                .alias("consumers of all parts")
                .until(() -> server.count("SELECT count(DISTINCT part) FROM consumed WHERE feed > ?", last) == PARTS);
        Scene.patiently().alias("one member for each part").until(() -> isShared(server));
    }

    /** As the members see it, and as the rows do. */
    private boolean isShared(TestSchema server) throws SQLException {
        List<Integer> held = members.stream()
                .flatMap(member -> member.parts().stream())
                .sorted()
                .toList();
        List<String> holders = server.list(String.class, """
                SELECT holder FROM rowlock_lease
                WHERE name LIKE 'partition:feed/%' AND holder IS NOT NULL AND expires_at > clock_timestamp()
                """);
        return held.equals(IntStream.range(0, PARTS).boxed().toList())
                && holders.size() == PARTS
                && Set.copyOf(holders).size() == PROCESSES;
    }

    /** Clients write no more, and what they wrote is consumed; then nobody holds anything. */
    void end(TestSchema server) {
        stopClients();
        Scene.patiently()
                .alias("all consumed")
                .until(() -> server.count("SELECT count(*) FROM feed WHERE NOT done") == 0);
        close();
    }

    /** Whatever was answered is there once, whatever is there was asked for, and nobody wrote after who came later. */
    void assertHeld(TestSchema server) throws SQLException {
        List<Long> tallies = server.list(Long.class, "SELECT token FROM tally ORDER BY no");
        assertThat(tallies).as("fenced writes of leaders").isSorted().hasSizeGreaterThanOrEqualTo(tallied.get());
        for (int part = 0; part < PARTS; part++) {
            assertThat(server.list(Long.class, "SELECT token FROM consumed WHERE part = ? ORDER BY no", part))
                    .as("fenced writes of part %d", part)
                    .isSorted();
        }
        assertThat(server.list(Long.class, "SELECT feed FROM consumed ORDER BY feed"))
                .as("consumed once each")
                .isEqualTo(server.list(Long.class, "SELECT id FROM feed ORDER BY id"));
        assertThat(server.list(String.class, """
                        SELECT DISTINCT key FROM (
                          SELECT key, feed < lag(feed) OVER (PARTITION BY key ORDER BY no) AS late FROM consumed) c
                        WHERE late
                        """)).as("keys out of order").isEmpty();

        List<String> items = server.list(String.class, "SELECT item FROM feed");
        assertThat(items).doesNotHaveDuplicates().containsAll(written);
        Set<String> asked = new HashSet<>(written);
        asked.addAll(doubtful);
        assertThat(asked).as("none that was told to have failed").containsAll(items);
        List<String> payments = server.list(String.class, "SELECT what || ' ' || id FROM payment");
        assertThat(payments)
                .as("each paid once, and told the same")
                .containsExactlyInAnyOrderElementsOf(paid.entrySet().stream()
                        .map(each -> each.getKey() + ' ' + each.getValue())
                        .toList());
    }

    private void stopClients() {
        open = false;
        for (Thread client : clients) {
            try {
                client.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    public void close() {
        open = false;
        processes.forEach(process -> process.leases().stop(Duration.ofSeconds(5)));
    }
}
