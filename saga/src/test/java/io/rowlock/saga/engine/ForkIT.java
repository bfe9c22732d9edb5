package io.rowlock.saga.engine;

import static io.rowlock.job.RetryPolicy.fixed;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.By;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.Branch;
import io.rowlock.saga.Choice;
import io.rowlock.saga.Escalation;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaFork;
import io.rowlock.saga.SagaFork.Outcome;
import io.rowlock.saga.SagaSignal;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Sagas that begin in the middle, from what another has done. */
@PostgresTest
final class ForkIT {
    private static final SagaType<Trip> TRIP = SagaType.named("trip", Trip.class);
    private static final SagaType<Old> OLD = SagaType.named("trip", Old.class);
    private static final SagaSignal<Integer> PAID = SagaSignal.named("paid", Integer.class);
    private static final By ME = new By("ann", "again");

    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private final AtomicBoolean broken = new AtomicBoolean(true);
    private SagaScene scene;

    record Trip(String name, List<String> log) {
        Trip plus(String entry) {
            List<String> longer = new ArrayList<>(log);
            longer.add(entry);
            return new Trip(name, longer);
        }
    }

    /** The state of version 1. */
    record Old(String city) {}

    @AfterEach
    void end() {
        scene.close();
    }

    private Trip deed(Trip trip, String what) {
        done.add(what);
        return trip.plus(what);
    }

    private String state(String id) throws Exception {
        return scene.one("SELECT state::text FROM rowlock_saga WHERE id = ?", id);
    }

    private SagaDefinition<Trip> trip(boolean key) {
        return saga -> {
            var start = saga.named("trip", Trip.class).version(2);
            if (key) {
                start.businessKey(Trip::name);
            }
            return start.upcast(1, Old.class, old -> new Trip(old.city(), List.of("upcast")))
                    .step("a")
                    .call((trip, step) -> deed(trip, "a " + step.key()))
                    .compensate((trip, step) -> done.add("undo a " + step.key("a")))
                    .choose(
                            "way",
                            Choice.when(
                                    "far",
                                    trip -> true,
                                    chain -> chain.step("fly")
                                            .call((trip, step) -> deed(trip, "fly"))
                                            .noCompensation()),
                            Choice.otherwise())
                    .parallel(
                            "both",
                            Branch.branch(
                                    "one",
                                    chain -> chain.step("x")
                                            .call((trip, step) -> deed(trip, "x"))
                                            .noCompensation()),
                            Branch.branch(
                                    "two",
                                    chain -> chain.step("y")
                                            .call((trip, step) -> deed(trip, "y"))
                                            .noCompensation()))
                    .join((trip, results) -> trip.plus("joined"))
                    .step("b")
                    .call((trip, step) -> deed(trip, "b"))
                    .noCompensation()
                    .pivot("p")
                    .call((trip, step) -> {
                        if (broken.get()) {
                            throw new PermanentFailure("broken");
                        }
                        return deed(trip, "p");
                    })
                    .build();
        };
    }

    private void stuck(TestSchema schema, boolean key) throws Exception {
        scene = new SagaScene(schema, trip(key));
        scene.start();
        scene.begin(TRIP, "1", new Trip("rome", List.of()));
        scene.await("1", SagaStatus.STUCK);
    }

    /** And ended by a person, as it could go on beside its fork. */
    private void resolved(TestSchema schema, boolean key) throws Exception {
        stuck(schema, key);
        assertThat(scene.operations().fork("1", "b", "2", ME).outcome()).isEqualTo(Outcome.UNFINISHED);
        assertThat(scene.operations().resolveWhole("1", ME)).isEqualTo(SagaAnswer.DONE);
    }

    @Test
    void a_fork_begins_at_its_step_with_the_state_before_it(TestSchema schema) throws Exception {
        resolved(schema, false);
        broken.set(false);
        done.clear();
        SagaFork fork = scene.operations().fork("1", "b", "2", ME);
        assertThat(fork.outcome()).as(fork.words()).isEqualTo(Outcome.FORKED);
        scene.await("2", SagaStatus.COMPLETED);
        assertThat(done).containsExactly("b", "p");
        assertThat(state("2")).contains("\"fly\",\"joined\",\"b\",\"p\"");
        assertThat(scene.steps("2"))
                .as("the branches end in the order they happened to end in")
                .hasSize(8)
                .startsWith("a completed", "way completed", "fly completed")
                .contains("x completed", "y completed")
                .endsWith("both completed", "b completed", "p completed");
        assertThat(scene.operations().fork("1", "b", "2", ME).outcome()).isEqualTo(Outcome.EXISTS);
        assertThat(
                        scene.one(
                                "SELECT string_agg(what || ' ' || saga || ' ' || step, ',' ORDER BY id) FROM rowlock_operation"))
                .isEqualTo("fork 1 b,forked 2 b");
    }

    @Test
    void a_fork_undoes_what_it_took_over_under_the_keys_of_the_saga_that_did_it(TestSchema schema) throws Exception {
        SagaDefinition<Trip> definition = saga -> saga.named("trip", Trip.class)
                .version(1)
                .step("a")
                .call((trip, step) -> deed(trip, "a " + step.key()))
                .compensate((trip, step) -> done.add("undo a " + step.key("a")))
                .step("b")
                .call((trip, step) -> deed(trip, "b"))
                .noCompensation()
                .await(PAID, (trip, sum) -> trip)
                .within(Duration.ofMillis(1))
                .otherwise(Escalation.fail())
                .build();
        scene = new SagaScene(schema, definition);
        scene.start();
        scene.begin(TRIP, "0", new Trip("rome", List.of()));
        scene.await("0", SagaStatus.COMPENSATED);
        assertThat(scene.operations().fork("0", "b", "1", ME).outcome()).isEqualTo(Outcome.NOT_REACHED);
        schema.execute("UPDATE rowlock_saga_step SET status = 'completed', compensation_attempts = 0 WHERE step = 'a'");
        done.removeIf(entry -> entry.startsWith("undo"));
        assertThat(scene.operations().fork("0", "b", "1", ME).outcome()).isEqualTo(Outcome.FORKED);
        scene.await("1", SagaStatus.COMPENSATED);
        assertThat(done).hasSize(4);
        assertThat(done.get(3)).isEqualTo("undo " + done.get(0));
    }

    @Test
    void a_fork_from_the_first_step_begins_with_the_state_that_the_saga_began_with(TestSchema schema) throws Exception {
        resolved(schema, false);
        broken.set(false);
        done.clear();
        SagaFork fork = scene.operations().fork("1", "a", "2", ME);
        assertThat(fork.outcome()).as(fork.words()).isEqualTo(Outcome.FORKED);
        scene.await("2", SagaStatus.COMPLETED);
        assertThat(done).first().asString().startsWith("a ");
        assertThat(state("2")).startsWith("{\"name\":\"rome\",\"log\":[\"a ").doesNotContain("\"b\",\"b\"");
        assertThat(scene.steps("2")).hasSize(8);
    }

    @Test
    void what_a_fork_has_taken_over_is_not_taken_for_done_by_another_one(TestSchema schema) throws Exception {
        resolved(schema, false);
        assertThat(scene.operations().fork("1", "b", "2", ME).outcome()).isEqualTo(Outcome.FORKED);
        scene.await("2", SagaStatus.STUCK);
        SagaFork again = scene.operations().fork("1", "p", "3", ME);
        assertThat(again.outcome()).as(again.words()).isEqualTo(Outcome.FORKED_ALREADY);
        assertThat(scene.operations().fork("1", "a", "3", ME).outcome()).isEqualTo(Outcome.FORKED);
        assertThat(scene.operations().resolveWhole("2", ME)).isEqualTo(SagaAnswer.DONE);
        assertThat(scene.operations().fork("2", "p", "4", ME).outcome()).isEqualTo(Outcome.FORKED);
        assertThat(scene.operations().fork("2", "p", "5", ME).outcome()).isEqualTo(Outcome.FORKED_ALREADY);
    }

    @Test
    void a_business_key_that_is_held_is_told(TestSchema schema) throws Exception {
        resolved(schema, true);
        scene.begin(TRIP, "3", new Trip("rome", List.of()));
        scene.await("3", SagaStatus.STUCK);
        long operations = scene.schema().count("SELECT count(*) FROM rowlock_operation");
        SagaFork held = scene.operations().fork("1", "b", "2", ME);
        assertThat(held.outcome()).isEqualTo(Outcome.KEY_HELD);
        assertThat(held.saga()).isEqualTo("3");
        assertThat(scene.schema().count("SELECT count(*) FROM rowlock_operation"))
                .isEqualTo(operations);
        assertThat(scene.operations().resolveWhole("3", ME)).isEqualTo(SagaAnswer.DONE);
        broken.set(false);
        assertThat(scene.operations().fork("1", "b", "2", ME).outcome()).isEqualTo(Outcome.FORKED);
        scene.await("2", SagaStatus.COMPLETED);
    }

    @Test
    void what_cannot_be_forked_is_said_in_words(TestSchema schema) throws Exception {
        resolved(schema, false);
        assertThat(scene.operations().fork("1", "x", "2", ME).outcome()).isEqualTo(Outcome.WRONG_STEP);
        assertThat(scene.operations().fork("1", "nothing", "2", ME).outcome()).isEqualTo(Outcome.WRONG_STEP);
        assertThat(scene.operations().fork("none", "b", "2", ME).outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(scene.operations().fork("1", "p", "1", ME).outcome()).isEqualTo(Outcome.EXISTS);
        assertThat(scene.schema().count("SELECT count(*) FROM rowlock_saga")).isEqualTo(1);
    }

    @Test
    void a_saga_that_goes_on_by_itself_is_not_forked(TestSchema schema) throws Exception {
        SagaDefinition<Trip> waits = saga -> saga.named("trip", Trip.class)
                .version(1)
                .step("a")
                .call((trip, step) -> deed(trip, "a"))
                .noCompensation()
                .await(PAID, (trip, sum) -> trip)
                .within(Duration.ofDays(1))
                .otherwise(Escalation.escalate())
                .build();
        scene = new SagaScene(schema, waits);
        scene.start();
        scene.begin(TRIP, "1", new Trip("rome", List.of()));
        scene.awaitStep("1", "paid", "waiting");
        assertThat(scene.operations().fork("1", "a", "2", ME).outcome()).isEqualTo(Outcome.HEALTHY);
    }

    @Test
    void the_state_of_an_older_version_is_upcast(TestSchema schema) throws Exception {
        SagaDefinition<Old> first = saga -> saga.named("trip", Old.class)
                .version(1)
                .step("a")
                .call((old, step) -> new Old("oslo"))
                .noCompensation()
                .pivot("p")
                .call((old, step) -> {
                    throw new PermanentFailure("broken");
                })
                .retry(fixed(Duration.ZERO).maxAttempts(1))
                .build();
        scene = new SagaScene(schema, first);
        scene.start();
        scene.begin(OLD, "1", new Old("rome"));
        scene.await("1", SagaStatus.STUCK);
        assertThat(scene.operations().resolveWhole("1", ME)).isEqualTo(SagaAnswer.DONE);
        scene.close();
        scene = new SagaScene(schema, false, trip(false));
        scene.start();
        broken.set(false);
        SagaFork fork = scene.operations().fork("1", "way", "2", ME);
        assertThat(fork.outcome()).as(fork.words()).isEqualTo(Outcome.FORKED);
        scene.await("2", SagaStatus.COMPLETED);
        assertThat(state("2")).isEqualTo("{\"name\":\"oslo\",\"log\":[\"upcast\",\"fly\",\"joined\",\"b\",\"p\"]}");
        assertThat(scene.one("SELECT version::text FROM rowlock_saga WHERE id = '2'"))
                .isEqualTo("2");
        assertThat(scene.operations().fork("1", "b", "3", ME).outcome()).isEqualTo(Outcome.NOT_REACHED);
        SagaDefinition<Trip> third = saga -> saga.named("trip", Trip.class)
                .version(3)
                .step("a")
                .call((trip, step) -> trip)
                .noCompensation()
                .step("z")
                .call((trip, step) -> trip)
                .noCompensation()
                .build();
        scene.close();
        scene = new SagaScene(schema, false, third);
        SagaFork none = scene.operations().fork("1", "z", "3", ME);
        assertThat(none.outcome()).isEqualTo(Outcome.NO_STATE);
        assertThat(none.words()).contains("no upcast of states of version 1");
    }
}
