package io.rowlock.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.sql.EnqueueSql.Due;
import io.rowlock.internal.sql.EnqueueSql.Keys;
import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.internal.sql.HolderSql.Taken;
import io.rowlock.internal.sql.RetakeSql.Keyless;
import io.rowlock.internal.sql.RetakeSql.Merged;
import io.rowlock.job.Priority;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whom the key is given back, and who is merged, when something has happened to the job since it was looked at. */
@PostgresTest
final class RetakeSqlIT {
    private TestSchema schema;
    private RetakeSql sql;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        sql = new RetakeSql(new Names(schema.name(), "rowlock_"));
        TestRowlock.fresh(schema);
        schema.execute("INSERT INTO rowlock_job (kind, payload, dedup_key, dedup_mode, token)"
                + " VALUES ('mail', '{}', 'a', 'keep', 3)");
    }

    private Keyless putBack() throws Exception {
        try (Connection connection = schema.connect()) {
            long id = schema.count("SELECT min(id) FROM rowlock_job");
            return sql.keyless(connection, List.of(id)).get(0);
        }
    }

    private void another() throws Exception {
        schema.execute("INSERT INTO rowlock_job (kind, payload, dedup_key, dedup_mode, waiting_key)"
                + " VALUES ('mail', '{}', 'a', 'keep', 'a')");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "locked_by = 'w', locked_until = clock_timestamp(), token = 4",
                "token = 5",
                "state = 'completed', finished_at = clock_timestamp()",
                "waiting_key = 'b'"
            })
    @Tag("P3")
    void a_job_that_was_claimed_or_ended_meanwhile_is_left_alone(String change) throws Exception {
        Keyless job = putBack();
        schema.execute("UPDATE rowlock_job SET " + change);
        another();

        try (Connection connection = schema.begin()) {
            assertThat(sql.retake(connection, List.of(job), Duration.ofSeconds(1)))
                    .isEmpty();
            assertThat(sql.merge(connection, job)).isEmpty();
            connection.commit();
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'cancelled'"))
                .isZero();
    }

    @Test
    void a_job_is_not_merged_into_one_that_is_locked_or_gone() throws Exception {
        another();
        Keyless job = putBack();
        try (Connection connection = schema.begin();
                Connection cancelling = schema.begin()) {
            cancelling.createStatement().execute("SELECT FROM rowlock_job WHERE waiting_key = 'a' FOR NO KEY UPDATE");
            assertThat(sql.merge(connection, job)).isEmpty();
            cancelling.rollback();
            cancelling.createStatement().execute("DELETE FROM rowlock_job WHERE waiting_key = 'a'");
            cancelling.commit();
            assertThat(sql.merge(connection, job)).isEmpty();
            another();
            assertThat(sql.merge(connection, putBack())).isPresent();
        }
    }

    @Test
    @Tag("P11")
    void a_job_with_an_ordering_key_takes_over_from_the_very_one_it_saw_and_from_no_other() throws Exception {
        schema.execute("UPDATE rowlock_job SET ordering_key = 'o'");
        another();
        Keyless job = putBack();
        schema.execute("DELETE FROM rowlock_job WHERE waiting_key = 'a'");
        another();

        try (Connection connection = schema.begin()) {
            assertThat(sql.merge(connection, job)).isEmpty();
            assertThat(sql.merge(connection, putBack())).isPresent();
        }
    }

    @ParameterizedTest
    @CsvSource({"false,false", "false,true", "true,false", "true,true"})
    void whichever_was_put_back_the_content_that_was_written_last_stays(boolean ordered, boolean replaced)
            throws Exception {
        schema.execute("TRUNCATE rowlock_job");
        schema.execute("INSERT INTO rowlock_job (kind, payload, dedup_key, dedup_mode, waiting_key)"
                + " VALUES ('mail', '1', 'a', 'keep', 'a')");
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, dedup_key, dedup_mode) VALUES ('mail', '2', 'a', 'keep')");
        schema.execute(ordered ? "UPDATE rowlock_job SET ordering_key = 'o'" : "SELECT 1");
        long older = schema.count("SELECT min(id) FROM rowlock_job");
        long newer = schema.count("SELECT max(id) FROM rowlock_job");
        if (replaced) {
            NewJob content = new NewJob(
                    "default",
                    "mail",
                    Priority.NORMAL,
                    null,
                    "3",
                    null,
                    null,
                    new Keys(null, null),
                    new Due(null, null));
            try (Connection connection = schema.begin()) {
                new HolderSql(new Names(schema.name(), "rowlock_"))
                        .change(connection, List.of(new Taken("mail", "a", content, null)));
                connection.commit();
            }
        }

        try (Connection connection = schema.begin()) {
            assertThat(sql.merge(
                            connection, sql.keyless(connection, List.of(newer)).get(0)))
                    .contains(new Merged(newer, older));
            connection.commit();
        }

        assertThat(schema.list(String.class, "SELECT payload::text FROM rowlock_job WHERE waiting_key = 'a'"))
                .containsExactly(replaced ? "3" : "2");
    }

    @Test
    void jobs_without_a_key_or_with_one_for_once_have_nothing_to_retake() throws Exception {
        schema.execute("UPDATE rowlock_job SET dedup_mode = 'once';"
                + "INSERT INTO rowlock_job (kind, payload) VALUES ('mail', '{}')");

        try (Connection connection = schema.connect()) {
            assertThat(sql.keyless(connection, schema.list(Long.class, "SELECT id FROM rowlock_job")))
                    .isEmpty();
        }
    }
}
