package io.rowlock.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rowlock.Rowlock;
import io.rowlock.error.DatabaseException;
import io.rowlock.fault.Task.End;
import io.rowlock.job.By;
import io.rowlock.job.DeadHead;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Keys whose jobs return, throw, snooze, die, are limited, cancelled and deduplicated, in workers that are killed, ended and stopped
 * past their leases; {@link Findings} says what is asked of the log afterwards. {@code -Drowlock.order.jobs=100000
 * -Drowlock.order.jvms=4 -Drowlock.order.seed=7} makes it as large as you like.
 */
@Tag("P11")
@Tag("P2")
@Tag("B43")
final class OrderUnderFaultsIT {
    private static final OwnPostgres SERVER = TestPostgres.embedded(options -> {});
    private static final int JOBS = Integer.getInteger("rowlock.order.jobs", 768);
    private static final int WORKERS = Integer.getInteger("rowlock.order.jvms", 3);
    private static final Long SEED = Long.getLong("rowlock.order.seed");
    private static final int KEYS = Math.max(4, Math.min(200, JOBS / 64));
    private static final int EACH = 8;
    private static final int ROUNDS = (JOBS + KEYS * EACH - 1) / (KEYS * EACH);
    private static final DedupMode[] MODES = DedupMode.values();
    private static final By BY_CHANCE = new By("chance", "to see what happens");
    private static final String SLOTS_HELD =
            "SELECT count(*) FROM rowlock_slot WHERE held > 0 AND held_until > clock_timestamp()";
    private static final QueueLimits LIMITS =
            QueueLimits.none().running(WORKERS * 3).runningPerKey(2);

    private final List<ChildJvm> children = new ArrayList<>();
    private final List<ChildJvm> gone = new ArrayList<>();
    private final Set<ChildJvm> paused = new HashSet<>();
    private TestSchema schema;
    private Scene scene;
    private Rowlock rowlock;
    private Connection writing;
    private int launched;
    private int cancelled;
    private long numbers;

    @BeforeEach
    void begin() throws SQLException {
        schema = TestSchema.create(SERVER, "order");
        scene = Scene.empty(schema);
        rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        Findings.prepare(schema);
        writing = schema.begin();
    }

    @AfterEach
    void end() throws SQLException {
        children.forEach(ChildJvm::close);
        gone.forEach(ChildJvm::close);
        writing.close();
        scene.close();
        schema.drop();
    }

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    static LongStream seeds() {
        return SEED == null ? LongStream.of(11, 20261130) : LongStream.of(SEED);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void jobs_of_a_key_run_one_at_a_time_in_order_each_to_one_end_and_no_duplicate_is_deceived(long seed)
            throws Exception {
        System.out.printf("seed %d: %d keys, %d rounds of %d jobs a key, %d JVMs%n", seed, KEYS, ROUNDS, EACH, WORKERS);
        long beganAt = System.nanoTime();
        rowlock.queues().deadHead("default", DeadHead.PASS, new By("ada", "followers need not wait"));
        rowlock.queues().limit("default", LIMITS, BY_CHANCE);
        Random random = new Random(seed);
        for (int i = 0; i < WORKERS; i++) {
            children.add(launch());
        }
        ChildWorker.awaitStarted(children.get(0));
        for (int round = 0; round < ROUNDS; round++) {
            for (int key = 0; key < KEYS; key++) {
                enqueueSome("key-" + key, random);
            }
            ChildJvm victim = children.get(random.nextInt(WORKERS));
            switch (random.nextInt(3)) {
                case 0 -> replaceKilled(victim);
                case 1 -> pause(victim);
                default -> resume(victim);
            }
            cancelOne(random);
            awaitBacklogOfHalfOf(round + 1);
        }
        List.copyOf(paused).forEach(this::resume);
        patiently().until(() -> waiting() == 0);
        patiently().until(() -> schema.count("SELECT count(*) FROM rowlock_key") == 0);
        patiently().until(() -> schema.count(SLOTS_HELD) == 0);
        System.out.printf(
                "seed %d: %d s, %d enqueues, states %s, %d runs, %d duplicates, %d merged, %d cancelled, %d JVMs%n",
                seed,
                Duration.ofNanos(System.nanoTime() - beganAt).toSeconds(),
                numbers,
                rowlock.jobs().counts(),
                schema.count("SELECT count(*) FROM started"),
                schema.count("SELECT count(*) FROM answered WHERE duplicate"),
                scene.count("last_error LIKE 'duplicate of %'"),
                cancelled,
                launched);

        assertThat(Findings.breaches(schema)).isEqualTo(Map.of());
        assertThat(schema.count("SELECT count(*) FROM answered")).isEqualTo(numbers);
        assertThat(numbers).isEqualTo((long) KEYS * EACH * ROUNDS);
        assertThat(schema.count("SELECT count(*) FROM answered WHERE duplicate"))
                .isPositive();
        assertThat(schema.count("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"))
                .as("deadlocks")
                .isZero();
    }

    /** Never all at once: nobody would be left to work off the backlog that the next round waits for. */
    private void pause(ChildJvm victim) {
        if (paused.size() < WORKERS - 1 && paused.add(victim)) {
            victim.pause();
        }
    }

    private void resume(ChildJvm victim) {
        if (paused.remove(victim)) {
            victim.resume();
        }
    }

    private void replaceKilled(ChildJvm victim) {
        paused.remove(victim);
        victim.kill();
        gone.add(victim);
        children.set(children.indexOf(victim), launch());
    }

    private ChildJvm launch() {
        return ChildWorker.launch(
                schema,
                "worker-" + ++launched,
                options -> options.graceAtExit(Duration.ofMillis(200)).concurrency(4));
    }

    /** One transaction: jobs of one ordering key, and a few without; some deduplicated, by a few keys. */
    private void enqueueSome(String key, Random random) throws SQLException {
        List<JobRequest<?>> requests = new ArrayList<>();
        List<DedupMode> modes = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            DedupMode mode = random.nextInt(10) < 4 ? MODES[random.nextInt(MODES.length)] : null;
            boolean ordered = mode == null || random.nextInt(5) > 0;
            String dedup = key
                    + (ordered ? "-" : "-unordered-")
                    + random.nextInt(2)
                    + (mode == DedupMode.ONCE ? numbers / 50 : "");
            boolean limited = random.nextInt(3) > 0;
            String tenant = "tenant-" + Math.floorMod(key.hashCode(), 3);
            Duration later = Duration.ofMillis(mode == DedupMode.PUSH_BACK ? 50 : 0);
            modes.add(mode);
            requests.add(JobRequest.of(task(key + '#' + ++numbers, random), options -> {
                JobOptions made = ordered ? options.orderingKey(key) : options;
                if (limited) {
                    made.limitKey(tenant);
                }
                if (mode != null) {
                    made.dedupKey(dedup, mode).after(later);
                }
            }));
        }
        List<Enqueued> answers = rowlock.outbox().enqueueAll(writing, requests);
        note(writing, answers, modes);
        writing.commit();
    }

    private static Task task(String name, Random random) {
        return switch (random.nextInt(10)) {
            case 0 -> Task.lingering(name).then(End.THROW, 1);
            case 1 -> Task.lingering(name).then(End.SNOOZE, 1);
            case 2 -> Task.quick(name).then(End.FAIL_FOR_GOOD);
            default -> Task.quick(name);
        };
    }

    private void note(Connection connection, List<Enqueued> answers, List<DedupMode> modes) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO answered (no, job_id, mode, duplicate) VALUES (?, ?, ?, ?)")) {
            for (int i = 0; i < answers.size(); i++) {
                insert.setLong(1, numbers - answers.size() + 1 + i);
                insert.setLong(2, answers.get(i).id());
                insert.setString(3, modes.get(i) == null ? null : modes.get(i).name());
                insert.setBoolean(4, answers.get(i).duplicate());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private void cancelOne(Random random) throws SQLException {
        List<Long> waiting =
                schema.list(Long.class, "SELECT id FROM rowlock_job WHERE state IN ('ready', 'parked') ORDER BY id");
        if (!waiting.isEmpty()) {
            long id = waiting.get(random.nextInt(waiting.size()));
            try {
                rowlock.jobs().cancel(id, BY_CHANCE);
                cancelled++;
            } catch (DatabaseException heldByAStoppedProcess) {
                assertThat(heldByAStoppedProcess).hasMessageContaining("try again later");
            }
        }
    }

    /** Goes on when half of what was enqueued so far has ended, or little is left. */
    private void awaitBacklogOfHalfOf(int rounds) {
        long most = (long) KEYS * EACH * Math.min(rounds, 4) / 2;
        patiently().until(() -> waiting() <= most);
    }

    private long waiting() throws SQLException {
        return scene.count("state IN ('ready', 'parked')");
    }

    private static ConditionFactory patiently() {
        return await().atMost(Scene.SOON.plusSeconds(JOBS / 20))
                .pollInterval(Duration.ofMillis(JOBS > 10_000 ? 500 : 100));
    }
}
