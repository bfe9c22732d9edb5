package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.sql.OutcomeSql.Failure;
import java.io.PrintWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class FailuresTest {
    @Test
    @Tag("P14")
    void error_texts_are_cut() {
        Failure failure = Failures.failure(new IllegalStateException("m".repeat(100_000)));

        assertThat(failure.message()).hasSize(2_000);
        assertThat(failure.stack()).hasSize(8_000);
    }

    @Test
    @Tag("B44")
    void what_postgres_cannot_store_is_replaced() {
        assertThat(Failures.cut("a\0b", 10)).isEqualTo("a\uFFFDb");
        assertThat(Failures.cut("a\uD83Db\uDE00", 10)).isEqualTo("a\uFFFDb\uFFFD");
        assertThat(Failures.cut("\uD83D\uDE00", 10)).isEqualTo("\uD83D\uDE00");
        assertThat(Failures.cut("\\u0000", 10)).isEqualTo("\\u0000");
        assertThat(Failures.cut(null, 10)).isEmpty();
    }

    @Test
    @Tag("P14")
    void a_cut_never_splits_a_pair_nor_goes_beyond_the_limit() {
        String cut = Failures.cut("x" + "\uD83D\uDE00".repeat(10), 4);

        assertThat(cut.codePoints().anyMatch(point -> point >= 0xD800 && point <= 0xDFFF))
                .isFalse();
        assertThat(cut).startsWith("x\uD83D\uDE00").hasSizeLessThanOrEqualTo(4);
    }

    @Test
    @Tag("P10")
    void an_exception_that_cannot_be_printed_is_still_a_failure() {
        Failure failure = Failures.failure(new Unprintable());

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

        Failure failure = Failures.failure(anonymous);

        assertThat(failure.message()).isEqualTo(anonymous.getClass().getName());
        assertThat(failure.stack()).contains("could not be printed");
    }

    @Test
    void a_failure_without_a_message_has_its_class_as_message() {
        assertThat(Failures.failure(new NullPointerException()).message()).isEqualTo("NullPointerException");
        assertThat(Failures.failure(new NullPointerException(" ")).message()).isEqualTo("NullPointerException");
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
