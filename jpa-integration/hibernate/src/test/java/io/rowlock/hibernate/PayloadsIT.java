package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.List;
import org.hibernate.Hibernate;
import org.hibernate.SessionFactory;
import org.hibernate.stat.Statistics;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What is in a payload, and that making it loads nothing that was not asked for. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class PayloadsIT {
    @Kind("text")
    record Text(String text) {}

    @Entity(name = "Node")
    @Table(name = "node")
    @OutboxJob(
            kind = "node-changed",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Node {
        @Id
        @GeneratedValue
        Long id;

        String text;

        @ManyToOne(fetch = FetchType.LAZY)
        Node parent;

        @OneToMany(mappedBy = "parent", cascade = CascadeType.ALL)
        List<Node> children = new ArrayList<>();

        @OutboxJob(on = {Change.PERSIST, Change.REMOVE})
        Text text() {
            return text == null ? null : new Text(text);
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;

    PayloadsIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Node.class).with("hibernate.generate_statistics", true);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM node; DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private static Node node(EntityManager em, String text, Node parent) {
        Node node = new Node();
        node.text = text;
        node.parent = parent;
        if (parent != null) {
            parent.children.add(node);
        }
        em.persist(node);
        return node;
    }

    /** A grandparent, a parent and two children; gives the parent's id. */
    private Long family() throws Exception {
        Long id = unit.commitAnd(em -> {
            Node top = node(em, "top", null);
            Node middle = node(em, "middle", top);
            node(em, "a", middle);
            node(em, "b", middle);
            return middle.id;
        });
        schema.execute("DELETE FROM rowlock_job");
        return id;
    }

    @Test
    @Tag("B44")
    void nul_and_lone_surrogates_in_a_text_commit_and_can_be_read_back() throws Exception {
        String[] texts = {"lone \ud800 high", "lone \udc00 low", "literal \\u0000", "emoji \ud83d\ude00".repeat(1000)};
        unit.commit(em -> {
            for (String text : texts) {
                // The column of the business row cannot hold such texts, so they are put in after the flush.
                Node node = new Node();
                em.persist(node);
                em.flush();
                node.text = text;
                em.remove(node);
            }
        });
        assertThat(unit.jobs())
                .contains(
                        "text {\"text\":\"lone \\ud800 high\"}",
                        "text {\"text\":\"lone \\udc00 low\"}",
                        "text {\"text\":\"literal \\\\u0000\"}")
                .anyMatch(job -> job.contains("\ud83d\ude00"));
    }

    @Test
    @Tag("B44")
    void nul_in_a_transient_part_of_the_payload_is_escaped() throws Exception {
        unit.commit(em -> {
            Node node = new Node();
            em.persist(node);
            em.flush();
            node.text = "a\u0000b";
            em.remove(node);
        });
        assertThat(unit.jobs()).contains("text {\"text\":\"a\\u0000b\"}");
    }

    @Test
    @Tag("B45")
    void flush_sends_no_statement_and_loads_no_association_for_the_payload() throws Exception {
        Long id = family();
        Statistics statistics = unit.factory().unwrap(SessionFactory.class).getStatistics();
        unit.commit(em -> {
            Node node = em.find(Node.class, id);
            statistics.clear();
            node.text = "changed";
            em.flush();
            assertThat(statistics.getPrepareStatementCount())
                    .as("the UPDATE alone")
                    .isEqualTo(1);
            assertThat(Hibernate.isInitialized(node.children)).isFalse();
            assertThat(Hibernate.isInitialized(node.parent)).isFalse();
        });
        assertThat(unit.jobs()).hasSize(1);
    }
}
