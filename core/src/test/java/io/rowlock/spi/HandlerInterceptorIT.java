package io.rowlock.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.AttemptEnded;
import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import io.rowlock.worker.HandlerConfig;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What goes around handlers decides nothing by silence, and stops nothing by throwing. */
@PostgresTest
final class HandlerInterceptorIT {
    @Kind("mail")
    private record Mail(int no) {}

    @Kind("booking")
    private record Booking(int no) {}

    private final TestSchema schema;
    private final List<String> seen = new ArrayList<>();

    HandlerInterceptorIT(TestSchema schema) {
        this.schema = schema;
    }

    private TestRowlock rowlock(HandlerInterceptor... interceptors) throws Exception {
        return TestRowlock.fresh(schema, builder -> List.of(interceptors).forEach(builder::interceptor));
    }

    private HandlerInterceptor named(String name) {
        return (job, handler) -> {
            seen.add(name + " before " + job.kind());
            try {
                handler.proceed();
            } finally {
                seen.add(name + " after");
            }
        };
    }

    private static void twice(HandlerConfig config) {
        config.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(2));
    }

    /** Runs all that is due. */
    private void drain(TestRowlock rowlock) {
        try (HandCrankedWorker worker = rowlock.rowlock()
                .handCrankedWorker(config -> config.handle(
                                Mail.class,
                                (mail, job) -> {
                                    seen.add("mail " + mail.no());
                                    if (mail.no() < 0) {
                                        throw new IllegalStateException("no such mail");
                                    }
                                    if (mail.no() == 0) {
                                        throw new Snooze(Duration.ofHours(1));
                                    }
                                },
                                HandlerInterceptorIT::twice)
                        .handleTransactionally(
                                Booking.class,
                                (booking, job, connection) -> seen.add("booking " + connection.getAutoCommit()),
                                HandlerInterceptorIT::twice))) {
            worker.drain();
        }
    }

    @Test
    void first_is_outermost_for_leased_and_transactional_handlers_alike() throws Exception {
        TestRowlock rowlock = rowlock(named("outer"), named("inner"));
        rowlock.enqueue(new Mail(1));
        drain(rowlock);
        rowlock.enqueue(new Booking(1));
        drain(rowlock);

        assertThat(seen)
                .containsExactly(
                        "outer before mail",
                        "inner before mail",
                        "mail 1",
                        "inner after",
                        "outer after",
                        "outer before booking",
                        "inner before booking",
                        "booking false",
                        "inner after",
                        "outer after");
        assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(2);
    }

    /** The commit of a transactional handler is inside, and so is a payload that cannot be read. */
    @Test
    void commit_and_the_reading_of_the_payload_are_inside() throws Exception {
        List<Object> states = new ArrayList<>();
        TestRowlock rowlock = rowlock((job, handler) -> {
            try {
                handler.proceed();
                states.add(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'completed'"));
            } catch (Exception unreadable) {
                states.add(unreadable.getClass().getSimpleName());
                throw unreadable;
            }
        });
        rowlock.enqueue(new Booking(1));
        schema.execute("INSERT INTO rowlock_job (kind, payload, max_attempts) VALUES ('mail', '[]', 1)");

        drain(rowlock);

        assertThat(states).containsExactlyInAnyOrder(1L, "MismatchedInputException");
    }

    @Test
    @Tag("P2")
    @Tag("P10")
    void interceptor_that_does_not_proceed_completes_no_job() throws Exception {
        TestRowlock rowlock = rowlock((job, handler) -> {});
        long id = rowlock.enqueue(new Mail(1)).id();

        drain(rowlock);

        assertThat(seen).isEmpty();
        assertThat(rowlock.state(id)).isEqualTo(JobState.DEAD);
        assertThat(rowlock.job(id).progress().lastError())
                .contains("A HandlerInterceptor returned without calling proceed(), so that the handler did not run");
    }

    @Test
    @Tag("P2")
    void handlers_failure_that_is_swallowed_is_a_failure_all_the_same_and_a_snooze_a_snooze() throws Exception {
        TestRowlock rowlock = rowlock((job, handler) -> {
            try {
                handler.proceed();
            } catch (Exception e) {
                seen.add("swallowed " + e.getClass().getSimpleName());
            }
        });
        long failing = rowlock.enqueue(new Mail(-1)).id();
        long snoozing = rowlock.enqueue(new Mail(0)).id();

        drain(rowlock);

        assertThat(seen).contains("swallowed IllegalStateException", "swallowed Snooze");
        assertThat(rowlock.state(failing)).isEqualTo(JobState.DEAD);
        assertThat(rowlock.job(failing).progress().lastError()).contains("no such mail");
        assertThat(rowlock.state(snoozing)).isEqualTo(JobState.READY);
        assertThat(rowlock.job(snoozing).progress().attempts()).isZero();
    }

    @Test
    void interceptor_may_say_more_of_a_failure_and_the_handlers_own_is_not_lost() throws Exception {
        TestRowlock rowlock = rowlock((job, handler) -> {
            try {
                handler.proceed();
            } catch (IllegalStateException e) {
                throw new PermanentFailure("it will never do");
            }
        });
        long id = rowlock.enqueue(new Mail(-1)).id();

        drain(rowlock);

        assertThat(seen).containsExactly("mail -1");
        assertThat(rowlock.job(id).progress().attempts()).isEqualTo(1);
        assertThat(rowlock.events(AttemptEnded.class))
                .singleElement()
                .satisfies(ended -> assertThat(ended.thrown())
                        .isInstanceOf(PermanentFailure.class)
                        .satisfies(thrown -> assertThat(thrown.getSuppressed())
                                .singleElement()
                                .satisfies(own -> assertThat(own).hasMessage("no such mail"))));
    }

    @Test
    @Tag("P4")
    void what_it_throws_after_a_commit_undoes_nothing_and_runs_no_handler_again() throws Exception {
        TestRowlock rowlock = rowlock((job, handler) -> {
            handler.proceed();
            throw new IllegalStateException("too late");
        });
        long booking = rowlock.enqueue(new Booking(1)).id();
        long mail = rowlock.enqueue(new Mail(1)).id();

        drain(rowlock);

        assertThat(rowlock.state(booking)).isEqualTo(JobState.COMPLETED);
        assertThat(rowlock.events(JobCompleted.class))
                .containsExactly(new JobCompleted(booking, "default", "booking", 1));
        assertThat(rowlock.state(mail)).isEqualTo(JobState.DEAD);
        assertThat(seen).containsExactlyInAnyOrder("booking false", "mail 1", "mail 1");
    }

    @Test
    @Tag("P10")
    void proceeding_twice_or_elsewhere_fails_the_attempt() throws Exception {
        TestRowlock rowlock = rowlock((job, handler) -> {
            if (job.attempt() == 1) {
                handler.proceed();
                handler.proceed();
            } else {
                try {
                    CompletableFuture.runAsync(() -> {
                                try {
                                    handler.proceed();
                                } catch (Exception e) {
                                    throw new CompletionException(e);
                                }
                            })
                            .join();
                } catch (CompletionException e) {
                    throw (Exception) e.getCause();
                }
            }
        });
        long id = rowlock.enqueue(new Mail(1)).id();

        drain(rowlock);

        assertThat(seen).containsExactly("mail 1");
        assertThat(rowlock.rowlock().jobs().failures(id))
                .satisfiesExactlyInAnyOrder(
                        first -> assertThat(first.message()).contains("called proceed() twice"),
                        second -> assertThat(second.message()).contains("on another thread than its own"));
    }

    @Test
    @Tag("P10")
    void interceptor_that_throws_whatever_it_likes_stops_no_loop() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        TestRowlock rowlock = rowlock((job, handler) -> {
            if (calls.incrementAndGet() % 2 == 1) {
                throw new StackOverflowError("a broken interceptor");
            }
            handler.proceed();
        });
        try (Worker worker = rowlock.work(
                w -> w.queue("default", 1).handle(Mail.class, (mail, job) -> {}, HandlerInterceptorIT::twice))) {
            for (int no = 0; no < 10; no++) {
                rowlock.enqueue(new Mail(no));
            }
            rowlock.awaitAllEnded();
            assertThat(worker.health().loops()).isEmpty();
        }
        assertThat(rowlock.count(JobState.COMPLETED) + rowlock.count(JobState.DEAD))
                .isEqualTo(10);
        assertThat(rowlock.count(JobState.COMPLETED)).isPositive();
    }

    @Test
    void null_is_no_interceptor() {
        assertThatThrownBy(() -> Rowlock.builder().interceptor(null))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("interceptor must not be null");
    }
}
