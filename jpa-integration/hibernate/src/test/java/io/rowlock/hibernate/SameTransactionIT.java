package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.RowlockBuilder;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.SchemaException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.postgresql.ds.PGSimpleDataSource;

/** The job goes over the connection and transaction of its row; a wiring that cannot do so fails at start-up. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P1")
@Tag("B04")
final class SameTransactionIT {
    @Entity(name = "Payment")
    @Table(name = "payment")
    @OutboxJob(kind = "payment", on = Change.PERSIST)
    static class Payment {
        @Id
        int id;

        Payment() {}

        Payment(int id) {
            this.id = id;
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;

    SameTransactionIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Payment.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM payment; DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    @Test
    void job_that_may_not_be_written_takes_its_row_along() throws Exception {
        String role = schema.name() + "_role";
        schema.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA " + schema.name() + " TO "
                + role + "; GRANT ALL ON payment TO " + role);
        PGSimpleDataSource poor = schema.dataSource();
        poor.setUser(role);
        poor.setPassword("x");
        try (TestUnit other = TestUnit.on(schema, Payment.class)
                .with("jakarta.persistence.nonJtaDataSource", poor)
                .without("hibernate.hbm2ddl.auto")) {
            assertThatThrownBy(() -> other.commit(em -> em.persist(new Payment(3))))
                    .hasStackTraceContaining("permission denied for table rowlock_job");
        } finally {
            schema.execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
        }
        assertThat(schema.count("SELECT count(*) FROM payment")).isZero();
    }

    private RowlockBuilder rowlock() {
        return Rowlock.builder().persistenceUnit(unit.factory());
    }

    @Test
    void unit_and_data_source_on_one_database_start() {
        assertThatCode(() -> rowlock().dataSource(schema.dataSource()).build()).doesNotThrowAnyException();
        assertThatCode(() -> rowlock().build()).doesNotThrowAnyException();
    }

    @Test
    void data_source_of_another_database_fails_at_start_up() throws Exception {
        String other = schema.name() + "_db";
        schema.execute("CREATE DATABASE " + other);
        try {
            PGSimpleDataSource wrong = schema.dataSource();
            wrong.setDatabaseName(other);
            assertThatThrownBy(() -> rowlock().dataSource(wrong).build())
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("where no worker looks")
                    .hasMessageContaining(other);
        } finally {
            schema.execute("DROP DATABASE " + other + " WITH (FORCE)");
        }
    }

    @Test
    void unit_that_finds_no_tables_fails_at_start_up() {
        try (TestUnit lost = TestUnit.on(schema, Payment.class).with("rowlock.schema", "nowhere")) {
            assertThatThrownBy(() ->
                            Rowlock.builder().persistenceUnit(lost.factory()).build())
                    .isInstanceOf(SchemaException.class)
                    .hasMessageContaining("rowlock.schema")
                    .hasMessageContaining("nowhere");
        }
    }

    @Test
    void two_units_have_settings_and_jobs_of_their_own(TestSchema same) throws Exception {
        TestSchema second = TestSchema.create(same.server(), "second");
        try (second;
                TestUnit other = TestUnit.on(second, Payment.class).with("rowlock.table-prefix", "mine_")) {
            Rowlock.builder()
                    .dataSource(second.dataSource())
                    .persistenceUnit(other.factory())
                    .build()
                    .schema()
                    .install();
            other.commit(em -> em.persist(new Payment(1)));
            unit.commit(em -> em.persist(new Payment(2)));
            assertThat(second.list(String.class, "SELECT subject FROM mine_job"))
                    .containsExactly("Payment:1");
            assertThat(schema.list(String.class, "SELECT subject FROM rowlock_job"))
                    .containsExactly("Payment:2");
        }
    }
}
