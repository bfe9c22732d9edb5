package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NamesTest {
    @ParameterizedTest
    @NullSource
    @ValueSource(
            strings = {
                "",
                " ",
                "1a",
                "Upper",
                "a-b",
                "a b",
                "a.b",
                "a\"b",
                "a;b",
                "a'b",
                "a\0b",
                "a\n",
                "ä",
                "a$b",
                "public\"; DROP TABLE x; --"
            })
    void anything_but_a_plain_identifier_is_refused(String name) {
        assertThatThrownBy(() -> new Names(name, "rowlock_"))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageStartingWith("schema must be a lower-case SQL identifier of at most 63")
                .hasMessageContaining(name == null ? "got null" : "got '" + name + "'");
        assertThatThrownBy(() -> new Names("public", name))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageStartingWith("tablePrefix must be a lower-case SQL identifier of at most 40")
                .hasMessageContaining(name == null ? "got null" : "got '" + name + "'");
    }

    @Test
    void names_are_bounded_so_that_every_index_fits_into_63_bytes() {
        String longest = new Names("s".repeat(63), "p".repeat(40)).apply("rowlock_alert_acknowledged");

        assertThat(longest).hasSizeLessThanOrEqualTo(63);
        assertThatThrownBy(() -> new Names("s".repeat(64), "rowlock_")).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> new Names("public", "p".repeat(41))).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void tables_are_qualified_and_indexes_only_prefixed() {
        Names names = new Names("shop", "app_");

        assertThat(names.apply("CREATE INDEX rowlock_job_due ON rowlock_job (id); SELECT rowlock_alert.n"))
                .isEqualTo("CREATE INDEX app_job_due ON \"shop\".app_job (id); SELECT \"shop\".app_alert.n");
    }

    @Test
    void a_name_that_was_put_in_is_not_replaced_again() {
        Names names = new Names("rowlock_job", "rowlock_alert_");

        assertThat(names.apply("SELECT id FROM rowlock_job, rowlock_job_failure"))
                .isEqualTo(
                        "SELECT id FROM \"rowlock_job\".rowlock_alert_job, \"rowlock_job\".rowlock_alert_job_failure");
    }

    @Test
    void tags_and_other_words_stay_as_they_are() {
        Names names = new Names("shop", "app_");

        assertThat(names.apply("/* rowlock:claim */ SELECT myrowlock_job, rowlock"))
                .isEqualTo("/* rowlock:claim */ SELECT myrowlock_job, rowlock");
    }
}
