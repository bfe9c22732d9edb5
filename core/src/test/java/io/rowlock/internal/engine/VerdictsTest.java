package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.engine.Outcome.Died;
import io.rowlock.internal.engine.Outcome.PutBack;
import io.rowlock.internal.engine.Outcome.Retried;
import io.rowlock.job.PermanentFailure;
import io.rowlock.job.RetryAfter;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
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

    private static LeasedJob attempt(int attempt) {
        return FakeJobs.job(POLICY, attempt, null, 0);
    }
}
