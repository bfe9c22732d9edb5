package io.rowlock.saga.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.error.DatabaseException;
import io.rowlock.job.By;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Sagas of all sorts over two processes that are killed, and stopped past their leases, by chance; with signals that come
 * early, late and twice, cancels and deadlines. {@link MixFindings} says what is asked of the end. {@code
 * -Drowlock.sagas=10000 -Drowlock.sagas.seed=7} makes it as large as you like.
 */
@PostgresTest
@Tag("P2")
@Tag("P3")
@Tag("P4")
@Tag("P6")
final class ManySagasIT {
    private static final int SAGAS = Integer.getInteger("rowlock.sagas", 300);
    private static final long SEED = Long.getLong("rowlock.sagas.seed", System.nanoTime() % 1_000_000);
    private static final int ROUNDS = Math.max(6, Math.min(100, SAGAS / 30));
    private static final int EACH = (SAGAS + ROUNDS - 1) / ROUNDS;
    private static final By BY_CHANCE = new By("chance", "to see what happens");
    private static final String OPEN = "SELECT count(*) FROM rowlock_saga WHERE finished_at IS NULL";

    private final Random random = new Random(SEED);
    private final List<ChildJvm> children = new ArrayList<>();
    private final Map<SagaCancellation, Integer> cancels = new EnumMap<>(SagaCancellation.class);
    private final List<String> accepted = new ArrayList<>();
    private Scene scene;
    private SagaEngine engine;
    private int kills;
    private int stops;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        System.out.printf("seed %d: %d sagas in %d rounds%n", SEED, SAGAS, ROUNDS);
        scene = Scene.create(schema);
        engine = Scene.engine(scene.rowlock(), "default", new Mix(scene.books(), SEED).all());
    }

    @AfterEach
    void end() throws SQLException {
        children.forEach(ChildJvm::close);
        scene.close();
    }

    @Test
    void all_end_like_a_clean_run_or_like_a_full_undo() throws Exception {
        long deadlocks = deadlocks();
        long beganAt = System.nanoTime();
        children.add(launch());
        children.add(launch());
        for (ChildJvm child : children) {
            child.awaitLine("started", Scene.SOON);
        }
        for (int round = 0; round < ROUNDS; round++) {
            List<String> started = startSome(round);
            int half = started.size() / 2;
            for (String saga : started.subList(0, half)) {
                wish(saga);
            }
            awaitBegun(round);
            disturb();
            for (String saga : started.subList(half, started.size())) {
                wish(saga);
            }
            patiently().until(() -> scene.schema().count(OPEN) <= 2L * EACH);
        }
        patiently()
                .until(() -> scene.schema().count(OPEN + " AND status NOT IN ('stuck', 'compensation_failed')") == 0);
        patiently().until(() -> scene.schema().count("SELECT count(*) FROM rowlock_job WHERE state = 'ready'") == 0);
        tell(Duration.ofNanos(System.nanoTime() - beganAt));

        assertThat(MixFindings.breaches(scene.schema(), scene.books())).isEqualTo(Map.of());
        assertBalanced();
        assertThat(accepted).as("cancels that were accepted").allMatch(saga -> is(saga, "compensated"));
        assertThat(deadlocks()).as("deadlocks").isEqualTo(deadlocks);
        assertThat(kills + stops).isPositive();
    }

    private boolean is(String saga, String status) {
        try {
            return scene.status(saga).equals(status);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** One transaction; some have their signal before. */
    private List<String> startSome(int round) throws SQLException {
        List<SagaType<Purchase>> types = List.of(Mix.ORDER, Mix.WAIT, Mix.PARTY, Mix.PARENT, Mix.HURRY);
        List<String> started = new ArrayList<>();
        try (Connection connection = scene.schema().begin()) {
            for (int i = 0; i < EACH; i++) {
                SagaType<Purchase> type = types.get(random.nextInt(types.size()));
                String id = type.name() + '-' + round + '-' + i;
                String trouble = random.nextInt(4) == 0 ? "gift" : "";
                boolean early = type.equals(Mix.WAIT) && random.nextInt(3) == 0;
                if (early) {
                    signal(SagaTarget.saga(id), false);
                }
                engine.sagas().start(connection, type, id, Purchase.of(id, trouble));
                started.add(early ? "-" + id : id);
            }
            connection.commit();
        }
        return started;
    }

    /** Signals, once, twice or never, late ones too, and now and then a cancel. */
    private void wish(String marked) throws SQLException {
        boolean early = marked.startsWith("-");
        String id = early ? marked.substring(1) : marked;
        if (id.startsWith("wait")) {
            for (int times = random.nextInt(early ? 2 : 4); times > 0; times--) {
                signal(random.nextBoolean() ? SagaTarget.saga(id) : SagaTarget.businessKey(id), random.nextInt(4) == 0);
            }
        }
        if (random.nextInt(10) == 0) {
            try {
                SagaCancellation answer = engine.sagas().cancel(id, BY_CHANCE);
                cancels.merge(answer, 1, Integer::sum);
                if (answer == SagaCancellation.ACCEPTED) {
                    accepted.add(id);
                }
            } catch (DatabaseException heldByAStoppedProcess) {
                assertThat(heldByAStoppedProcess).hasMessageContaining("try again");
            }
        }
    }

    private void signal(SagaTarget target, boolean confirms) throws SQLException {
        try (Connection connection = scene.schema().begin()) {
            engine.sagas().signal(connection, confirms ? Mix.CONFIRMED : Mix.PAID, target, 1);
            connection.commit();
        }
    }

    /** A third of the round's sagas has begun. */
    private void awaitBegun(int round) {
        patiently()
                .until(() -> scene.schema()
                                .count(
                                        "SELECT count(*) FROM rowlock_saga WHERE step IS NOT NULL OR finished_at IS NOT NULL")
                        >= (long) EACH * round + EACH / 3);
    }

    /** Kills a process and starts another, or stops one past its lease. */
    private void disturb() throws Exception {
        int victim = random.nextInt(children.size());
        switch (random.nextInt(3)) {
            case 0 -> {
                kills++;
                children.get(victim).kill();
                children.set(victim, launch());
            }
            case 1 -> {
                stops++;
                children.get(victim).pause();
                pass(Scene.LEASE.plusMillis(random.nextInt(2_000)));
                children.get(victim).resume();
            }
            default -> {
                // they work
            }
        }
    }

    private static void pass(Duration time) throws InterruptedException {
        assertThat(new CountDownLatch(1).await(time.toMillis(), TimeUnit.MILLISECONDS))
                .isFalse();
    }

    private ChildJvm launch() {
        return scene.launch(MixChild.class, jvm -> {}, Long.toString(SEED));
    }

    private void tell(Duration time) throws SQLException {
        System.out.printf(
                "seed %d: %d s, %d sagas with children, ends %s, %d kills, %d stops, %d attempts and %d of compensations, %d calls,"
                        + " %d rescues, cancels %s%n",
                SEED,
                time.toSeconds(),
                scene.schema().count("SELECT count(*) FROM rowlock_saga"),
                scene.schema()
                        .list(
                                String.class,
                                "SELECT name || ' ' || status || ' ' || count(*) FROM rowlock_saga GROUP BY name, status ORDER BY 1"),
                kills,
                stops,
                scene.schema().count("SELECT sum(attempts)::bigint FROM rowlock_saga_step"),
                scene.schema().count("SELECT sum(compensation_attempts)::bigint FROM rowlock_saga_step"),
                scene.books().schema().count("SELECT count(*) FROM call"),
                scene.schema().count("SELECT count(*) FROM rowlock_job_failure WHERE error_class = 'worker lost'"),
                cancels);
    }

    /** By the outside services alone: what was shipped was paid for by somebody, and nothing else is held. */
    private void assertBalanced() throws SQLException {
        Books books = scene.books();
        assertThat(books.sum("thank")).isEqualTo(amountOf("order", "wait", "party", "hurry"));
        assertThat(books.sum("ship")).isEqualTo(amountOf("order", "wait", "party", "hurry", "parent"));
        assertThat(books.sum("charge")).isEqualTo(amountOf("order", "wait", "hurry"));
        assertThat(books.sum("reserve")).isEqualTo(amountOf("order", "wait", "hurry", "parent"));
        assertThat(books.sum("cook")).isEqualTo(books.sum("band")).isEqualTo(amountOf("party"));
        assertThat(books.sum("sub-charge")).isEqualTo(books.sum("sub-reserve")).isEqualTo(amountOf("parent"));
    }

    private long amountOf(String... types) throws SQLException {
        return Purchase.of("", "").amount()
                * scene.schema()
                        .count(
                                "SELECT count(*) FROM rowlock_saga WHERE status = 'completed' AND name = ANY(string_to_array(?, ','))",
                                String.join(",", types));
    }

    private long deadlocks() throws SQLException {
        return scene.schema().count("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
    }

    private static ConditionFactory patiently() {
        return Awaitility.await()
                .atMost(Scene.SOON.plusSeconds(SAGAS / 10))
                .pollInterval(Duration.ofMillis(SAGAS > 1_000 ? 500 : 100));
    }
}
