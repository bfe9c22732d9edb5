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
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The claimer of an engine that the test steps by hand, and whose handlers never begin unless the test lets them. */
@PostgresTest
final class ClaimerIT {
    private static final Duration LONG = Duration.ofHours(1);
    private static final int CONCURRENCY = 4;

    private final List<Runnable> begun = new ArrayList<>();
    private final List<Integer> keptUp = new ArrayList<>();
    private TestSchema schema;
    private Engine engine;

    @BeforeEach
    void install(TestSchema schema) throws SQLException {
        this.schema = schema;
        TestRowlock.fresh(schema);
        WorkerConfig config = new WorkerConfig()
                .queue("default", CONCURRENCY)
                .lease(LONG)
                .poll(LONG)
                .handle(new JobKind<>("mail", String.class, List.of()), (text, job) -> {}, options -> {});
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
                ground,
                config.settings(),
                new Identity("me", LONG, "x", false, () -> false),
                task -> {
                    keptUp.add(engine.inFlight.all().size());
                    begun.add(task);
                },
                () -> {});
    }

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    @Tag("P6")
    void one_suspect_runs_at_a_time_and_the_next_when_it_has_ended() throws Exception {
        insert(3, 1);
        insert(1, 0);

        engine.claimer.step();
        assertThat(running()).as("one of the suspects, and the other").isEqualTo(2);
        engine.claimer.step();
        assertThat(running()).isEqualTo(2);

        List.copyOf(begun).forEach(Runnable::run);
        engine.completer.step();
        engine.claimer.step();
        assertThat(running()).isEqualTo(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'completed'"))
                .isEqualTo(2);
    }

    @Test
    @Tag("P6")
    void next_suspect_waits_until_the_outcome_of_the_last_is_recorded() throws Exception {
        insert(2, 1);
        engine.claimer.step();
        begun.get(0).run();

        engine.claimer.step();
        assertThat(running())
                .as("a crash of the second would cost the first another attempt")
                .isEqualTo(1);
        engine.completer.step();
        engine.claimer.step();
        assertThat(running()).isEqualTo(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'completed'"))
                .isEqualTo(1);
    }

    @Test
    void claimer_whose_slots_are_all_taken_waits_for_one_and_does_not_look_back_meanwhile() throws Exception {
        engine.claimer.step();
        insert(1, 0);
        engine.claimer.step(); // soon after the first, so that it does not look back, and finds no more
        insert(CONCURRENCY - 1, 0);
        engine.claimer.step();
        assertThat(running()).isEqualTo(CONCURRENCY);

        assertThat(engine.claimer.step()).isGreaterThan(TimeUnit.SECONDS.toNanos(1));
    }

    @Test
    @Tag("P3")
    void all_of_a_claim_are_kept_up_before_the_first_is_handed_to_an_executor_that_may_block() throws Exception {
        insert(CONCURRENCY, 0);
        engine.claimer.step();
        assertThat(keptUp).containsOnly(CONCURRENCY);
    }

    @Test
    @Tag("P12")
    void suspect_that_was_moved_to_a_foreign_queue_since_it_was_found_is_left_alone() throws Exception {
        insert(2, 1);
        engine.claimer.step();
        schema.execute("UPDATE rowlock_job SET queue = 'foreign' WHERE locked_by IS NULL");
        begun.get(0).run();
        engine.completer.step();

        engine.claimer.step();
        assertThat(running()).isZero();
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE queue = 'foreign' AND attempts = 0"))
                .isEqualTo(1);
    }

    @Test
    @Tag("P10")
    void claimer_rests_till_its_next_poll_while_no_slot_is_free_though_a_retry_is_due() throws Exception {
        insert(CONCURRENCY + 1, 0);
        engine.claimer.step();
        assertThat(running()).isEqualTo(CONCURRENCY);

        assertThat(engine.claimer.dueAgain(Duration.ZERO)).isTrue();

        assertThat(Duration.ofNanos(engine.claimer.step())).isGreaterThan(Duration.ofMinutes(30));
        assertThat(engine.claimer.moreDue()).as("a freed slot wakes it").isTrue();
    }

    private void insert(int jobs, int losses) throws SQLException {
        schema.update(
                "INSERT INTO rowlock_job (kind, payload, losses) SELECT 'mail', '\"x\"', ? FROM generate_series(1, ?)",
                losses,
                jobs);
    }

    private long running() throws SQLException {
        return schema.count("SELECT count(*) FROM rowlock_job WHERE locked_by = 'me'");
    }
}
