package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.alert.AlertLimits;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.alert.Alarms;
import io.rowlock.internal.engine.JobRun.Identity;
import io.rowlock.internal.outbox.JacksonCodec;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.JobKind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.WorkerConfig;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A flood of high jobs leaves the others their shares. The engine is stepped by hand, so that claims are counted and no
 * time: each step is one claim of each way, and all jobs it took have ended before the next.
 */
@PostgresTest
@Tag("P2")
@Tag("B59")
final class PriorityIT {
    private static final Duration LONG = Duration.ofHours(1);
    private static final int FLOOD = 3_000;
    private static final String UNKEYED = "NULL";
    private static final String KEYED = "'key-' || nextval('keys')";

    private final List<Runnable> begun = new ArrayList<>();
    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private final TestSchema schema;
    private Engine engine;
    private LeasedJob slow;

    PriorityIT(TestSchema schema) {
        this.schema = schema;
    }

    private void install(Consumer<WorkerConfig> options) throws SQLException {
        TestRowlock.fresh(schema);
        schema.execute("DROP SEQUENCE IF EXISTS keys; CREATE SEQUENCE keys");
        WorkerConfig config = new WorkerConfig().lease(LONG).poll(LONG);
        options.accept(config);
        Ground ground = new Ground(
                schema::connect,
                new Names(schema.name(), "rowlock_"),
                new JacksonCodec(),
                List.of(),
                new Events(List.of()),
                null,
                () -> {},
                jobs -> {},
                new Alarms(AlertLimits.none(), List.of(), Clock.systemUTC()));
        engine = new Engine(
                ground, config.settings(), new Identity("me", LONG, "x", true, () -> false), begun::add, () -> {});
        slow = FakeJobs.job("default", config.settings().handlers().get(0), 0);
    }

    @AfterEach
    void close() {
        engine.close();
    }

    @ParameterizedTest
    @CsvSource({"1, 18", "2, 10", "16, 2"})
    void normal_and_low_jobs_are_claimed_beside_a_flood_of_high_ones(int slots, int claims) throws Exception {
        install(config -> mail(config.queue("default", slots)));
        insert(FLOOD, "high", UNKEYED);
        step();
        insert(1, "normal", UNKEYED);
        insert(1, "low", UNKEYED);

        assertThat(claimsUntilDone("normal", UNKEYED)).isLessThanOrEqualTo(Math.max(2, claims / 3));
        assertThat(claimsUntilDone("low", UNKEYED)).isLessThanOrEqualTo(claims);
        assertThat(done.stream().filter("high"::equals).count())
                .as("the slots that nobody else used")
                .isEqualTo(done.size() - 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {UNKEYED, KEYED})
    void three_floods_have_twelve_three_and_one_of_sixteen_slots(String key) throws Exception {
        install(config -> mail(config.queue("default", 16)));
        insert(FLOOD, "high", key);
        insert(FLOOD, "normal", key);
        insert(FLOOD, "low", key);
        step();
        done.clear();

        for (int i = 0; i < 10; i++) {
            step();
            insert(16, "high", key);
        }

        assertThat(done).hasSize(160);
        assertThat(Collections.frequency(done, "high")).isEqualTo(120);
        assertThat(Collections.frequency(done, "normal")).isEqualTo(30);
        assertThat(Collections.frequency(done, "low")).isEqualTo(10);
    }

    @ParameterizedTest
    @CsvSource({"1, 17", "2, 9", "16, 2"})
    void keyed_jobs_of_lower_levels_are_claimed_beside_a_flood_of_high_ones(int slots, int claims) throws Exception {
        install(config -> mail(config.queue("default", slots)));
        insert(FLOOD, "high", KEYED);
        step();
        insert(1, "normal", KEYED);
        insert(1, "low", KEYED);

        assertThat(claimsUntilDone("normal", KEYED)).isLessThanOrEqualTo(Math.max(2, claims / 3));
        assertThat(claimsUntilDone("low", KEYED)).isLessThanOrEqualTo(claims);
    }

    @ParameterizedTest
    @CsvSource({"NULL, true", "NULL, false"})
    void neither_keyed_nor_unkeyed_jobs_keep_the_others_from_the_only_slot(String unkeyed, boolean keyedFlood)
            throws Exception {
        install(config -> mail(config.queue("default", 1)));
        insert(FLOOD, "high", keyedFlood ? KEYED : unkeyed);
        step();
        insert(1, "low", keyedFlood ? unkeyed : KEYED);

        assertThat(claimsUntilDone("low", keyedFlood ? KEYED : unkeyed)).isLessThanOrEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource({"1, normal", "1, low", "16, normal", "16, low"})
    void handler_with_one_slot_comes_to_its_lower_lanes_too(int slots, String level) throws Exception {
        install(config -> config.queue("default", slots)
                .handle(kind("mail"), (text, job) -> done.add(text), options -> options.concurrency(1)));
        insert(FLOOD, "high", UNKEYED);
        step();
        insert(1, level, UNKEYED);

        assertThat(claimsUntilDone(level, UNKEYED)).isLessThanOrEqualTo(32);
    }

    @Test
    void flooded_queue_does_not_hide_the_keys_of_another() throws Exception {
        install(config -> mail(config.queue("default", 1).queue("other", 10)));
        insert(FLOOD, "high", KEYED);
        step();
        insert(1, "low", KEYED);
        schema.execute("UPDATE rowlock_job SET queue = 'other' WHERE priority = 2");

        assertThat(claimsUntilDone("low", KEYED)).isLessThanOrEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(strings = {UNKEYED, KEYED})
    void kinds_of_one_level_take_turns(String key) throws Exception {
        install(config -> {
            mail(config.queue("default", 1));
            config.handle(kind("sms"), (text, job) -> done.add("sms"), options -> {});
        });
        insert(FLOOD, "low", key);
        insert(FLOOD, "high", key);
        step();
        insert(1, "low", key);
        schema.execute("UPDATE rowlock_job SET kind = 'sms' WHERE id = (SELECT max(id) FROM rowlock_job)");

        assertThat(claimsUntilDone("sms", key)).as("two rounds of sixteen").isLessThanOrEqualTo(33);
    }

    private void mail(WorkerConfig config) {
        config.handle(kind("mail"), (text, job) -> done.add(text), options -> {});
    }

    private static JobKind<String> kind(String name) {
        return new JobKind<>(name, String.class, List.of());
    }

    /** Steps until such a job is done, the high lane being refilled before each claim. */
    private int claimsUntilDone(String text, String floodKey) throws Exception {
        int claims = 0;
        while (!done.contains(text) && claims < 100) {
            insert(16, "high", floodKey);
            step();
            claims++;
        }
        return claims;
    }

    private void step() throws Exception {
        engine.slots.ran(slow, LONG.toNanos()); // handlers that seem slow are not claimed ahead for
        engine.claimer.keyedDue();
        engine.claimer.step();
        while (!begun.isEmpty()) {
            List.copyOf(begun).forEach(task -> {
                begun.remove(task);
                task.run();
            });
        }
        engine.completer.step();
    }

    private void insert(int jobs, String level, String key) throws SQLException {
        schema.update(
                "INSERT INTO rowlock_job (kind, payload, priority, ordering_key)"
                        + " SELECT 'mail', to_json(?::text), array_position(ARRAY['high', 'normal', 'low'], ?) - 1, "
                        + key
                        + " FROM generate_series(1, ?)",
                level,
                level,
                jobs);
    }
}
