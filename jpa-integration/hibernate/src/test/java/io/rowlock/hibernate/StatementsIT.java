package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.List;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.event.spi.EventType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What jobs cost: one statement for each flush, and nothing at all where nothing is annotated. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StatementsIT {
    @Entity(name = "Reading")
    @Table(name = "reading")
    @OutboxJob(kind = "reading", on = Change.PERSIST)
    @OutboxJob(kind = "corrected", on = Change.PERSIST)
    static class Reading {
        @Id
        int id;

        Reading() {}

        Reading(int id) {
            this.id = id;
        }
    }

    @Entity(name = "Plain")
    @Table(name = "plain")
    static class Plain {
        @Id
        int id;
    }

    private final TestSchema schema;
    private final RecordingDataSource recorded = new RecordingDataSource();
    private final TestUnit unit;

    StatementsIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Reading.class, Plain.class)
                .with("jakarta.persistence.nonJtaDataSource", recorded.of(schema.dataSource()))
                .with("hibernate.jdbc.batch_size", 50);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM reading; DELETE FROM plain; DELETE FROM rowlock_job");
        recorded.clear();
    }

    @AfterAll
    void close() {
        unit.close();
    }

    @Test
    void hundred_entities_in_one_flush_write_two_hundred_jobs_in_one_statement() throws Exception {
        unit.commit(em -> {
            for (int i = 0; i < 100; i++) {
                em.persist(new Reading(i));
            }
        });
        assertThat(recorded.containing("rowlock:")).hasSize(1);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(200);
    }

    @Test
    void large_flush_writes_its_jobs_in_bounded_statements() throws Exception {
        unit.commit(em -> {
            for (int i = 0; i < 2_500; i++) {
                em.persist(new Reading(i));
            }
        });
        assertThat(recorded.containing("rowlock:enqueue")).hasSize(5);
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(5_000);
    }

    @Test
    void entity_without_annotation_costs_no_statement() throws Exception {
        unit.commit(em -> em.persist(new Plain()));
        assertThat(recorded.containing("rowlock:")).isEmpty();
    }

    @Test
    void unit_without_annotated_entities_has_no_listener_of_ours() {
        try (TestUnit plain = TestUnit.on(schema, Plain.class)) {
            SessionFactoryImplementor factory = plain.factory().unwrap(SessionFactoryImplementor.class);
            assertThat(Factories.unit(factory)).isNull();
            assertThat(ours(factory, EventType.POST_INSERT)).isEmpty();
            assertThat(ours(factory, EventType.POST_DELETE)).isEmpty();
            assertThat(ours(factory, EventType.FLUSH)).isEmpty();
            assertThat(ours(factory, EventType.AUTO_FLUSH)).isEmpty();
        }
    }

    @Test
    void unit_about_inserts_alone_does_not_listen_to_updates() {
        SessionFactoryImplementor factory = unit.factory().unwrap(SessionFactoryImplementor.class);
        assertThat(ours(factory, EventType.POST_UPDATE)).isEmpty();
        assertThat(ours(factory, EventType.POST_INSERT)).hasSize(1);
        assertThat(ours(factory, EventType.FLUSH)).hasSize(2);
    }

    private static List<Object> ours(SessionFactoryImplementor factory, EventType<?> type) {
        List<Object> found = new ArrayList<>();
        factory.getEventEngine()
                .getListenerRegistry()
                .getEventListenerGroup(type)
                .fireEventOnEachListener(found, (listener, into) -> {
                    if (listener.getClass().getName().startsWith("io.rowlock.")) {
                        into.add(listener);
                    }
                });
        return found;
    }
}
