package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.hibernate.SessionFactory;
import org.hibernate.stat.Statistics;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What jobs of entity changes cost in statements: one for all jobs of a flush, and nothing else. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("P14")
@Tag("B45")
final class StatementCountsIT {
    @Entity(name = "Depot")
    @Table(name = "depot")
    static class Depot {
        @Id
        int id;
    }

    @Entity(name = "Crate")
    @Table(name = "crate")
    @OutboxJob(
            kind = "crate",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE},
            subject = "depot",
            orderedBy = "depot")
    static class Crate {
        @Id
        int id;

        int weight;

        @ManyToOne(fetch = FetchType.LAZY)
        Depot depot;

        @ElementCollection
        Set<String> labels = new HashSet<>();
    }

    private final TestSchema schema;
    private final RecordingDataSource recorded = new RecordingDataSource();
    private final TestUnit unit;
    private Statistics statistics;

    StatementCountsIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Crate.class, Depot.class)
                .with("jakarta.persistence.nonJtaDataSource", recorded.of(schema.dataSource()))
                .with("hibernate.generate_statistics", true)
                .with("hibernate.jdbc.batch_size", 100);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        statistics = unit.factory().unwrap(SessionFactory.class).getStatistics();
    }

    @BeforeEach
    void fill() throws Exception {
        for (String table : List.of("crate_labels", "crate", "depot")) {
            schema.execute("DELETE FROM " + table);
        }
        schema.execute("INSERT INTO depot(id) VALUES (7)");
        schema.execute("INSERT INTO crate(id, weight, depot_id) SELECT i, 0, 7 FROM generate_series(1, 1000) i");
        schema.execute("DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private void counted(Consumer<EntityManager> work) {
        unit.commit(em -> {
            List<Crate> crates =
                    em.createQuery("select c from Crate c", Crate.class).getResultList();
            statistics.clear();
            recorded.clear();
            work.accept(em);
            assertThat(crates).isNotEmpty();
        });
    }

    @Test
    void thousand_updates_in_one_flush_write_their_jobs_in_one_statement_and_read_nothing() throws Exception {
        counted(em -> {
            for (int id = 1; id <= 1_000; id++) {
                em.find(Crate.class, id).weight = 1;
            }
        });
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE subject = 'Depot:7'"))
                .isEqualTo(1_000);
        assertThat(recorded.containing("rowlock:")).hasSize(1);
        nothingWasRead();
        assertThat(statistics.getPrepareStatementCount())
                .as("statements of Hibernate's own: the update, prepared once for each batch at most")
                .isLessThanOrEqualTo(10);
    }

    @Test
    void thousand_inserts_in_one_flush_write_their_jobs_in_one_statement_and_read_nothing() throws Exception {
        counted(em -> {
            Depot depot = em.getReference(Depot.class, 7);
            for (int id = 1_001; id <= 2_000; id++) {
                Crate crate = new Crate();
                crate.id = id;
                crate.depot = depot;
                em.persist(crate);
            }
            em.flush();
        });
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE subject = 'Depot:7'"))
                .isEqualTo(1_000);
        assertThat(recorded.containing("rowlock:")).hasSize(1);
        nothingWasRead();
        assertThat(statistics.getPrepareStatementCount())
                .as("statements of Hibernate's own: the insert, prepared once for each batch at most")
                .isLessThanOrEqualTo(10);
    }

    @Test
    void thousand_removals_in_one_flush_write_their_jobs_in_one_statement_and_read_nothing() throws Exception {
        counted(em -> {
            for (int id = 1; id <= 1_000; id++) {
                em.remove(em.find(Crate.class, id));
            }
        });
        assertThat(schema.count("SELECT count(*) FROM rowlock_job WHERE subject = 'Depot:7'"))
                .isEqualTo(1_000);
        assertThat(recorded.containing("rowlock:")).hasSize(1);
        nothingWasRead();
    }

    @Test
    void flush_that_changes_nothing_and_one_of_other_entities_send_nothing_of_ours() throws Exception {
        counted(em -> {
            em.flush();
            Depot other = new Depot();
            other.id = 8;
            em.persist(other);
        });
        assertThat(recorded.containing("rowlock:")).isEmpty();
        assertThat(statistics.getPrepareStatementCount()).as("the insert").isEqualTo(1);
        nothingWasRead();
    }

    private void nothingWasRead() {
        assertThat(statistics.getEntityLoadCount()).as("entities loaded").isZero();
        assertThat(statistics.getCollectionLoadCount()).as("collections loaded").isZero();
        assertThat(statistics.getCollectionFetchCount())
                .as("collections fetched")
                .isZero();
        assertThat(statistics.getQueryExecutionCount()).as("queries").isZero();
        assertThat(recorded.containing("select")).as("selects").isEmpty();
    }
}
