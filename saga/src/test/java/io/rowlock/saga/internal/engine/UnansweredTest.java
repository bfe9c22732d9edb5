package io.rowlock.saga.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.saga.OutcomeUnknown;
import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

final class UnansweredTest {
    @Test
    void what_says_so_itself_counts_whatever_is_below_it() {
        assertThat(Unanswered.by(new OutcomeUnknown("sent", new ConnectException())))
                .isTrue();
        assertThat(Unanswered.by(new IllegalStateException(new OutcomeUnknown("sent", null))))
                .isTrue();
    }

    @Test
    void a_connection_that_nobody_took_tells_that_nothing_was_done() {
        assertThat(Unanswered.by(new IOException(new ConnectException()))).isFalse();
        assertThat(Unanswered.by(new IOException())).isTrue();
        assertThat(Unanswered.by(new IllegalStateException(new TimeoutException())))
                .isTrue();
        assertThat(Unanswered.by(new IllegalStateException())).isFalse();
    }
}
