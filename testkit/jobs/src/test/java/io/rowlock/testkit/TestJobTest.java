package io.rowlock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** A job for a handler's test refuses what a worker's job refuses, so that no test passes on what fails at night. */
final class TestJobTest {
    private final Connection connection = (Connection) Proxy.newProxyInstance(
            TestJobTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> null);

    @Test
    void what_no_job_can_be_or_do_is_refused() {
        TestJob job = TestJob.ofKind("mail");
        List<ThrowingCallable> wrong = List.of(
                () -> TestJob.ofKind(null),
                () -> TestJob.ofKind(" "),
                () -> job.id(-1),
                () -> job.id(0),
                () -> job.attempt(2, 1),
                () -> job.subject("a\0"),
                () -> job.header("tenant", null),
                () -> job.lockIn(null),
                () -> job.completeIn(null),
                () -> job.snoozeIn(null, Duration.ZERO),
                () -> job.snoozeIn(connection, Duration.ofDays(40_000)),
                () -> job.snoozeIn(connection, null));

        assertThat(wrong).allSatisfy(call -> assertThatThrownBy(call).isInstanceOf(InvalidUseException.class));
        assertThat(job.wasCompleted()).isFalse();
        assertThat(job.snoozed()).isEmpty();
    }

    @Test
    void it_remembers_what_the_handler_did_once() {
        TestJob job = TestJob.ofKind("mail").id(7).subject("Order:42").header("tenant", "acme");

        job.lockIn(connection);
        job.completeIn(connection);

        assertThat(job.wasCompleted()).isTrue();
        assertThat(job.subject()).isEqualTo("Order:42");
        assertThat(job.headers()).containsEntry("tenant", "acme");
        assertThatThrownBy(() -> job.snoozeIn(connection, Duration.ZERO)).hasMessageContaining("already (job=7)");
    }
}
