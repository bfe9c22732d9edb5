package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fault.Task.End;
import io.rowlock.job.Backoff;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobHandler;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Jobs that kill their JVM, or throw what hardly anybody catches, among healthy ones. */
@PostgresTest
@Tag("P6")
@Tag("B38")
@Timeout(240)
final class DeadlyJobIT {
    private static final int HEALTHY = 50;
    private static final int RESTARTS = 10;

    private final TestSchema schema;
    private Scene scene;

    DeadlyJobIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    void job_that_kills_the_jvm_dies_of_its_attempts_and_costs_each_healthy_one_at_most_one() throws Exception {
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < HEALTHY; i++) {
            tasks.add(Task.quick("healthy"));
        }
        tasks.add(3, Task.quick("killer").then(End.HALT_THE_JVM));
        long killer = scene.enqueueAll(tasks).get(3);

        int restarts = 0;
        while (scene.count("state = 'ready'") > 0 && restarts < RESTARTS) {
            restarts++;
            try (ChildJvm child = ChildWorker.launch(
                    schema, "child-" + restarts, options -> options.attempts(3).lease(Duration.ofSeconds(1)))) {
                patiently().until(() -> !child.isAlive() || scene.count("state = 'ready'") == 0);
            }
        }
        assertThat(restarts).isEqualTo(4);
        assertThat(schema.one(String.class, "SELECT state || ', ' || last_error FROM rowlock_job WHERE id = ?", killer))
                .contains("dead, worker lost");
        assertThat(scene.number(killer, "attempts")).isEqualTo(3);
        assertThat(scene.starts("killer")).isEqualTo(3);
        assertThat(scene.failures(killer)).containsExactly("worker lost", "worker lost", "worker lost");
        assertThat(schema.rows("SELECT cause, kind, n, job_id, reason FROM rowlock_alert"))
                .singleElement()
                .satisfies(alert ->
                        assertThat(alert.values()).containsExactly("job dead", "task", 1L, killer, "worker lost"));
        assertThat(scene.count("state = 'completed' AND attempts <= 2 AND losses = attempts - 1"))
                .isEqualTo(HEALTHY);
    }

    @Kind("strange")
    record Strange(How how) {}

    /** What a handler may throw. */
    enum How {
        ENDLESS_RECURSION("java.lang.StackOverflowError"),
        OUT_OF_MEMORY("java.lang.OutOfMemoryError"),
        MISSING_CLASS("java.lang.NoClassDefFoundError"),
        DEATH_OF_THE_THREAD("java.lang.ThreadDeath"),
        UNREADABLE("io.rowlock.fault.DeadlyJobIT$Unreadable"),
        ENDLESSLY_UNREADABLE("io.rowlock.fault.DeadlyJobIT$EndlesslyUnreadable");

        private final String recordedAs;

        How(String recordedAs) {
            this.recordedAs = recordedAs;
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_a_handler_throws_is_counted_and_stops_nothing_else(How how) throws Exception {
        long strange = scene.enqueue(new Strange(how));
        Deeds handler = scene.deeds("worker");
        Worker worker = start(handler, Scene.AT_ONCE.maxAttempts(2), DeadlyJobIT::throwIt);
        scene.enqueueAll(List.of(Task.quick("healthy"), Task.quick("healthy"), Task.quick("healthy")));
        patiently().until(() -> scene.count("kind = 'task' AND state = 'completed'") == 3);
        scene.awaitState(strange, "dead");
        assertThat(scene.failures(strange)).containsExactly(how.recordedAs, how.recordedAs);
        assertThat(scene.alerts()).isOne();
        patiently().until(() -> worker.health().running() == 0);
        assertThat(worker.health().up()).isTrue();
    }

    /** The backoff is the application's own code, and is asked after a failure and after a timeout. */
    @ParameterizedTest
    @EnumSource(names = {"MISSING_CLASS", "OUT_OF_MEMORY"})
    void error_in_a_backoff_leaves_no_job_leased_for_ever(How how) throws Exception {
        Deeds handler = scene.deeds("worker");
        long failing = scene.enqueue(new Strange(how));
        long slow = scene.enqueue(new Strange(How.UNREADABLE));
        Backoff broken = (attempt, error) -> {
            throw new NoClassDefFoundError("of the backoff");
        };
        Worker worker = start(handler, RetryPolicy.custom(broken), (strange, job) -> {
            if (job.id() == slow) {
                handler.handle(Task.waiting("until interrupted"), job);
            }
            throwIt(strange, job);
        });
        patiently().until(() -> scene.count("id IN (" + failing + "," + slow + ") AND locked_by IS NULL") == 2);
        patiently().until(() -> worker.health().running() == 0);
        assertThat(scene.failures(failing)).hasSize(1);
        assertThat(scene.failures(slow)).hasSize(1);
        long next = scene.enqueue(Task.quick("next"));
        scene.awaitState(next, "completed");
    }

    @Test
    void executor_that_fails_for_want_of_threads_costs_no_attempt_and_no_capacity() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Deeds handler = scene.deeds("worker");
        List<Long> jobs = scene.enqueueAll(List.of(Task.quick("a"), Task.quick("b"), Task.quick("c"), Task.quick("d")));
        Worker worker = scene.start(
                scene.rowlock(),
                settings -> settings.lease(Scene.LEASE)
                        .queue("default", 1)
                        .executor(task -> {
                            if (asked.incrementAndGet() <= 3) {
                                throw new OutOfMemoryError("unable to create native thread");
                            }
                            new Thread(task).start();
                        })
                        .handle(Task.class, handler));
        for (long job : jobs) {
            scene.awaitState(job, "completed");
        }
        assertThat(scene.count("attempts = 1 AND losses = 0")).isEqualTo(jobs.size());
        patiently().until(() -> worker.health().running() == 0);
        patiently().until(() -> worker.health().up());
    }

    private Worker start(Deeds handler, RetryPolicy retry, JobHandler<Strange> thrower) {
        return scene.start(
                scene.rowlock(),
                settings -> settings.lease(Scene.LEASE)
                        .queue("default", 2)
                        .handle(Task.class, handler)
                        .handle(
                                Strange.class,
                                thrower,
                                options -> options.retry(retry).timeout(Duration.ofSeconds(1))));
    }

    private static void throwIt(Strange strange, JobContext job) {
        switch (strange.how()) {
            case ENDLESS_RECURSION -> throwIt(strange, job);
            case OUT_OF_MEMORY -> throw new OutOfMemoryError("as told");
            case MISSING_CLASS -> throw new NoClassDefFoundError("as/Told");
            case DEATH_OF_THE_THREAD -> throw new ThreadDeath();
            case UNREADABLE -> throw new Unreadable();
            case ENDLESSLY_UNREADABLE -> throw new EndlesslyUnreadable();
        }
    }

    /** Like an exception whose message is made by classes that are missing. */
    private static final class Unreadable extends RuntimeException {
        @Override
        public String getMessage() {
            throw new NoClassDefFoundError("of the message");
        }
    }

    /** Fails to say what it is by failing to say what it is. */
    private static final class EndlesslyUnreadable extends Error {
        @Override
        public String getMessage() {
            throw new EndlesslyUnreadable();
        }
    }
}
