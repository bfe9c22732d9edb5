package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaSteps;
import io.rowlock.saga.SagaTarget;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.time.Instant;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What sagas are given from outside, and cannot take: said in words, and nothing is lost by it. */
@PostgresTest
final class OddInputIT {
    private static final SagaType<String> TYPE = SagaType.named("odd", String.class);
    private static final SagaSignal<Integer> PAID = SagaSignal.named("paid", Integer.class);
    private static final SagaSignal<String> PAID_BY_ANOTHER = SagaSignal.named("paid", String.class);
    private static final By ME = new By("ann", "test");

    /** A step, what is given, and no more. */
    private static SagaDefinition<String> with(UnaryOperator<SagaSteps<String>> more) {
        return saga -> more.apply(saga.named("odd", String.class)
                        .version(1)
                        .businessKey(state -> "key")
                        .step("a")
                        .call((state, step) -> state)
                        .noCompensation())
                .build();
    }

    private static SagaDefinition<String> awaits() {
        return with(chain -> chain.await(PAID, (state, paid) -> state + paid)
                .within(Duration.ofDays(1))
                .otherwise(Escalation.fail()));
    }

    @Test
    @Tag("P14")
    void a_signal_that_cannot_be_read_is_told_of_and_the_next_one_moves_the_saga(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, awaits())) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.awaitStep("1", "paid", "waiting");
            scene.signal(PAID_BY_ANOTHER, SagaTarget.saga("1"), "much");
            SagaScene.await(() -> scene.one("SELECT cause FROM rowlock_alert").equals("saga signal unreadable"));
            assertThat(scene.status("1")).isEqualTo("running");
            assertThat(scene.one("SELECT error FROM rowlock_saga_step WHERE step = 'paid'"))
                    .contains("cannot be read");
            scene.signal(PAID, SagaTarget.saga("1"), 7);
            scene.await("1", SagaStatus.COMPLETED);
            assertThat(scene.one("SELECT state::text FROM rowlock_saga")).isEqualTo("\"x7\"");
        }
    }

    @Test
    @Tag("P14")
    void of_two_signals_that_were_early_the_second_one_moves_it(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, awaits())) {
            scene.begin(TYPE, "1", "x");
            schema.execute("INSERT INTO rowlock_saga_signal (saga, name, payload)"
                    + " VALUES ('1', 'paid', '\"much\"'), ('1', 'paid', '7')");
            scene.start();
            scene.await("1", SagaStatus.COMPLETED);
            assertThat(scene.one("SELECT state::text FROM rowlock_saga")).isEqualTo("\"x7\"");
        }
    }

    @Test
    @Tag("P14")
    void a_sleep_beyond_a_hundred_years_fails_in_words(TestSchema schema) throws Exception {
        fails(schema, chain -> chain.sleepUntil("rest", state -> Instant.MAX), "up to 100 years");
        fails(schema, chain -> chain.sleep("rest", state -> Duration.ofSeconds(Long.MAX_VALUE)), "up to 100 years");
        fails(schema, chain -> chain.sleep("rest", state -> null), "got null");
    }

    private static void fails(TestSchema schema, UnaryOperator<SagaSteps<String>> sleep, String why) throws Exception {
        try (SagaScene scene = new SagaScene(schema, with(sleep))) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.await("1", SagaStatus.COMPENSATED);
            assertThat(scene.one("SELECT reason FROM rowlock_saga"))
                    .startsWith("rest: ")
                    .contains(why);
        }
    }

    @Test
    @Tag("P14")
    void a_sleep_that_is_long_over_is_none(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(
                schema,
                with(chain -> chain.sleepUntil("rest", state -> Instant.MIN)
                        .sleep("again", state -> Duration.ofSeconds(Long.MIN_VALUE))))) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.await("1", SagaStatus.COMPLETED);
        }
    }

    /** Can be written, and not be read. */
    public static final class NoReader {
        private final int value;

        public NoReader(int value, int more) {
            this.value = value + more;
        }

        @JsonProperty
        public int value() {
            return value;
        }
    }

    @Test
    @Tag("P14")
    void a_state_that_cannot_be_read_back_is_refused_at_the_start(TestSchema schema) throws Exception {
        SagaDefinition<NoReader> definition = saga -> saga.named("no-reader", NoReader.class)
                .version(1)
                .step("a")
                .call((state, step) -> state)
                .noCompensation()
                .build();
        try (SagaScene scene = new SagaScene(schema, definition)) {
            assertThatThrownBy(() -> scene.begin(SagaType.named("no-reader", NoReader.class), "1", new NoReader(1, 2)))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("saga 1 cannot be read back as " + NoReader.class.getName());
            assertThat(schema.count("SELECT count(*) FROM rowlock_saga")).isZero();
        }
    }

    @Test
    @Tag("P2")
    void a_late_signal_to_a_redacted_saga_says_nothing(TestSchema schema) throws Exception {
        try (SagaScene scene = new SagaScene(schema, with(chain -> chain))) {
            scene.start();
            scene.begin(TYPE, "1", "x");
            scene.await("1", SagaStatus.COMPLETED);
            late(scene, "before", "born 1970");
            assertThat(scene.operations().redact("key", ME).redacted()).isEqualTo(1);
            late(scene, "after", "born 1970");
            assertThat(schema.list(String.class, "SELECT payload::text FROM rowlock_saga_signal"))
                    .containsExactly("{}", "{}");
            schema.execute("DELETE FROM rowlock_saga");
            scene.begin(TYPE, "1", "another");
            late(scene, "anew", "a word");
            scene.await("1", SagaStatus.COMPLETED);
            late(scene, "late", "a word");
            assertThat(schema.list(
                            String.class,
                            "SELECT payload::text FROM rowlock_saga_signal WHERE name IN ('anew', 'late')"))
                    .containsExactly("\"a word\"", "\"a word\"");
        }
    }

    private static void late(SagaScene scene, String name, String says) throws Exception {
        scene.signal(SagaSignal.named(name, String.class), SagaTarget.saga("1"), says);
        SagaScene.await(() ->
                scene.schema().count("SELECT count(*) FROM rowlock_saga_signal WHERE name = '" + name + "'") == 1);
    }
}
