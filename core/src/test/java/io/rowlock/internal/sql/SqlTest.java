package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SqlTest {
    private static final Names NAMES = new Names("shop", "app_");

    @Test
    void numbered_parameters_become_question_marks_in_their_places() {
        assertThat(new Sql(NAMES, "SELECT ($2)[array_position($1, id)] FROM rowlock_job WHERE id = ANY($1) LIMIT $10")
                        .text())
                .isEqualTo("SELECT (?)[array_position(?, id)] FROM \"shop\".app_job WHERE id = ANY(?) LIMIT ?");
    }

    @Test
    void durations_go_as_microseconds_and_never_overflow_silently() {
        assertThat(Sql.micros(Duration.ofSeconds(2, 1_999))).isEqualTo(2_000_001);
        assertThat(Sql.micros(Duration.ofMillis(-1))).isEqualTo(-1_000);
        assertThat(Sql.micros(Duration.ofDays(36_600))).isEqualTo(3_162_240_000_000_000L);
        assertThatThrownBy(() -> Sql.micros(Duration.ofSeconds(Long.MAX_VALUE)))
                .isInstanceOf(ArithmeticException.class);
    }

    @Test
    @Tag("P7")
    void instants_go_as_texts_that_mean_the_same_in_every_session_time_zone() {
        Instant at = Instant.parse("2026-03-29T01:30:00.123456Z");

        assertThat(Sql.instants(Arrays.asList(at, null)).values()).isEqualTo(Arrays.asList(at.toString(), null));
    }

    @Test
    @Tag("P10")
    void an_instant_the_database_may_hold_but_java_writes_otherwise_goes_in_its_spelling() {
        Instant minusInfinity = java.time.OffsetDateTime.MIN.toInstant();
        Instant infinity = java.time.OffsetDateTime.MAX.toInstant();
        Instant ides = LocalDateTime.of(-43, 3, 15, 12, 0).toInstant(ZoneOffset.UTC);
        Instant far = Instant.parse("+12026-01-01T00:00:00Z");

        assertThat(Sql.instants(List.of(minusInfinity, minusInfinity.minusSeconds(5), infinity, ides, far))
                        .values())
                .isEqualTo(List.of(
                        "-infinity",
                        "-infinity",
                        "infinity",
                        "0044-03-15T12:00:00.000000Z BC",
                        "12026-01-01T00:00:00.000000Z AD"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"08000", "08003", "08006", "08P01", "25006", "57P01", "57P02", "57P03", "57P05", "53300"})
    @Tag("B51")
    void a_broken_connection_or_a_demoted_or_stopped_server_means_the_connection_is_lost(String state) {
        assertThat(SqlState.connectionLost(new SQLException("x", state))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"40001", "40P01", "23505", "22P05", "42P01", "55P03", "57014", "53100"})
    @Tag("B51")
    void other_errors_leave_the_connection_in_use(String state) {
        assertThat(SqlState.connectionLost(new SQLException("x", state))).isFalse();
    }

    @Test
    void an_error_without_a_state_is_taken_for_a_lost_connection() {
        assertThat(SqlState.connectionLost(new SQLException("closed by the pool")))
                .isTrue();
        assertThat(SqlState.of(new SQLException("x"))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"22021,true", "22P02,true", "23514,true", "42P01,false", "40001,false", "08006,false", ",false"})
    void data_that_the_server_refuses_is_told_from_everything_else(String state, boolean refused) {
        assertThat(SqlState.refusesData(new SQLException("x", state))).isEqualTo(refused);
    }

    @ParameterizedTest
    @CsvSource({"42P01,true", "42703,true", "3F000,true", "42P10,true", "23505,false", ",false"})
    void a_missing_table_or_column_is_told_from_everything_else(String state, boolean differs) {
        assertThat(SqlState.schemaDiffers(new SQLException("x", state))).isEqualTo(differs);
    }
}
