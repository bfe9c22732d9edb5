package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.engine.Outcome.Died;
import io.rowlock.internal.engine.Outcome.PutBack;
import io.rowlock.internal.engine.Outcome.Retried;
import io.rowlock.internal.sql.OutcomeSql.Failure;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import java.io.PrintWriter;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class VerdictsTest {
    private static final RetryPolicy POLICY =
            RetryPolicy.fixed(Duration.ofSeconds(9)).jitter(0).maxAttempts(3).neverOn(ArithmeticException.class);

    @Test
    void any_throwable_is_tried_again_by_the_policy() {
        assertThat(Verdicts.onThrow(attempt(1), new StackOverflowError()))
                .isInstanceOfSatisfying(Retried.class, retried -> {
                    assertThat(retried.delay()).isEqualTo(Duration.ofSeconds(9));
                    assertThat(retried.notBeforeLease()).isFalse();
                    assertThat(retried.failure().errorClass()).isEqualTo("java.lang.StackOverflowError");
                });
    }

    @Test
    void the_last_attempt_a_permanent_failure_and_a_type_of_neverOn_are_deaths() {
        assertThat(Verdicts.onThrow(attempt(3), new IllegalStateException("x"))).isInstanceOf(Died.class);
        assertThat(Verdicts.onThrow(attempt(4), new IllegalStateException("x"))).isInstanceOf(Died.class);
        assertThat(Verdicts.onThrow(attempt(1), new PermanentFailure("x"))).isInstanceOf(Died.class);
        assertThat(Verdicts.onThrow(attempt(1), new ArithmeticException("x"))).isInstanceOf(Died.class);
        assertThat(Verdicts.onThrow(attempt(3), new RetryAfter(Duration.ZERO, "busy")))
                .isInstanceOf(Died.class);
    }

    @Test
    void the_jobs_own_limit_goes_before_the_policys() {
        assertThat(Verdicts.onThrow(FakeJobs.job(POLICY, 1, 1, 0), new IllegalStateException()))
                .isInstanceOf(Died.class);
        assertThat(Verdicts.onThrow(FakeJobs.job(POLICY, 4, 5, 0), new IllegalStateException()))
                .isInstanceOf(Retried.class);
    }

    @Test
    void retryAfter_waits_as_long_as_it_says_and_snooze_goes_back_even_on_the_last_attempt() {
        assertThat(Verdicts.onThrow(attempt(1), new RetryAfter(Duration.ofMinutes(2), "busy")))
                .isInstanceOfSatisfying(
                        Retried.class, retried -> assertThat(retried.delay()).isEqualTo(Duration.ofMinutes(2)));
        assertThat(Verdicts.onThrow(attempt(3), new Snooze(Duration.ofMinutes(3))))
                .isEqualTo(new PutBack(Duration.ofMinutes(3), true));
        assertThat(Verdicts.onThrow(attempt(3), new RowBusyException(1))).isInstanceOf(PutBack.class);
    }

    @Test
    @Tag("B12")
    void after_a_timeout_the_next_attempt_waits_for_the_old_lease() {
        assertThat(Verdicts.onTimeout(attempt(1), Duration.ofSeconds(2)))
                .isInstanceOfSatisfying(Retried.class, retried -> {
                    assertThat(retried.notBeforeLease()).isTrue();
                    assertThat(retried.failure().errorClass()).isEqualTo("timed out");
                    assertThat(retried.failure().message()).contains("PT2S");
                });
        assertThat(Verdicts.onTimeout(attempt(3), Duration.ofSeconds(2))).isInstanceOf(Died.class);
    }

    @Test
    @Tag("P14")
    void error_texts_are_cut() {
        Failure failure = Verdicts.failure(new IllegalStateException("m".repeat(100_000)));

        assertThat(failure.message()).hasSize(2_000);
        assertThat(failure.stack()).hasSize(8_000);
    }

    @Test
    @Tag("B44")
    void what_postgres_cannot_store_is_replaced() {
        assertThat(Verdicts.cut("a\0b", 10)).isEqualTo("a\uFFFDb");
        assertThat(Verdicts.cut("a\uD83Db\uDE00", 10)).isEqualTo("a\uFFFDb\uFFFD");
        assertThat(Verdicts.cut("\uD83D\uDE00", 10)).isEqualTo("\uD83D\uDE00");
        assertThat(Verdicts.cut("\\u0000", 10)).isEqualTo("\\u0000");
        assertThat(Verdicts.cut(null, 10)).isEmpty();
    }

    @Test
    @Tag("P14")
    void a_cut_never_splits_a_pair_nor_goes_beyond_the_limit() {
        String cut = Verdicts.cut("x" + "\uD83D\uDE00".repeat(10), 4);

        assertThat(cut.codePoints().anyMatch(point -> point >= 0xD800 && point <= 0xDFFF))
                .isFalse();
        assertThat(cut).startsWith("x\uD83D\uDE00").hasSizeLessThanOrEqualTo(4);
    }

    @Test
    @Tag("P10")
    void an_exception_that_cannot_be_printed_is_still_a_failure() {
        Failure failure = Verdicts.failure(new Unprintable());

        assertThat(failure.errorClass()).endsWith("Unprintable");
        assertThat(failure.message()).isEqualTo("Unprintable");
        assertThat(failure.stack()).contains("could not be printed");
    }

    @Test
    @Tag("P10")
    void a_failure_always_has_a_message_whatever_its_class_throws() {
        Throwable anonymous = new RuntimeException() {
            @Override
            public String getMessage() {
                throw new LinkageError("no message");
            }

            @Override
            public void printStackTrace(PrintWriter out) {
                throw new AssertionError("no stack");
            }
        };

        Failure failure = Verdicts.failure(anonymous);

        assertThat(failure.message()).isEqualTo(anonymous.getClass().getName());
        assertThat(failure.stack()).contains("could not be printed");
    }

    @Test
    void a_failure_without_a_message_has_its_class_as_message() {
        assertThat(Verdicts.failure(new NullPointerException()).message()).isEqualTo("NullPointerException");
        assertThat(Verdicts.failure(new NullPointerException(" ")).message()).isEqualTo("NullPointerException");
    }

    private static LeasedJob attempt(int attempt) {
        return FakeJobs.job(POLICY, attempt, null, 0);
    }

    private static final class Unprintable extends RuntimeException {
        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }

        @Override
        public void printStackTrace(PrintWriter out) {
            throw new IllegalStateException("no stack");
        }
    }
}
