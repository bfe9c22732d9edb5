package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OneToOne;
import jakarta.persistence.Version;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is wired or annotated wrongly is found when the SessionFactory starts, all of it at once. */
@PostgresTest
final class StartUpErrorsIT {
    @Kind("same")
    record One(long id) {}

    @Kind("same")
    record Other(long id) {}

    @Embeddable
    static class Address {
        String city;

        @OutboxJob(on = Change.UPDATE)
        One moved() {
            return new One(0);
        }
    }

    @Entity(name = "Customer")
    static class Customer {
        @Id
        Long id;

        @Version
        int version;

        String email;

        @Embedded
        Address address;

        @OneToMany(mappedBy = "customer")
        List<Order> orders;

        @OneToOne(mappedBy = "customer")
        Card card;

        @ElementCollection
        List<String> tags;

        @OutboxJob(
                on = Change.UPDATE,
                changed = {"emial", "orders", "card", "tags", "version", "id", "address.city"})
        One one() {
            return new One(id);
        }

        @OutboxJob(
                on = Change.UPDATE,
                changed = {"email", "address"})
        One right() {
            return new One(id);
        }
    }

    @Entity(name = "Order")
    static class Order {
        @Id
        Long id;

        @ManyToOne
        Customer customer;

        @OutboxJob(on = Change.UPDATE, changed = "customer")
        Other other() {
            return new Other(id);
        }
    }

    @Entity(name = "Card")
    @OutboxJob(on = Change.PERSIST)
    static class Card {
        @Id
        Long id;

        @OneToOne
        Customer customer;
    }

    @Entity(name = "Right")
    @OutboxJob(kind = "right", on = Change.PERSIST)
    static class Right {
        @Id
        Long id;
    }

    @Test
    void mistakes_of_all_entities_fail_the_start_together(TestSchema schema) {
        try (TestUnit unit =
                TestUnit.on(schema, Customer.class, Order.class, Card.class).without("hibernate.hbm2ddl.auto")) {
            Throwable thrown = TestUnit.root(catchThrowable(unit::factory));
            assertThat(thrown)
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("in 8 places")
                    .hasMessageContaining("emial, which Customer does not have; did you mean email?")
                    .hasMessageContaining("names orders, the mappedBy side")
                    .hasMessageContaining("names card, the mappedBy side")
                    .hasMessageContaining("the version version")
                    .hasMessageContaining("the id id")
                    .hasMessageContaining("Card: an annotation on a type needs a kind")
                    .hasMessageContaining("Customer: has annotations on the embeddable Address")
                    .hasMessageContaining("kind same stands for payload type");
        }
    }

    @Entity(name = "NeverStarted")
    @OutboxJob(kind = "never-started", on = Change.PERSIST)
    static class NeverStarted {
        @Id
        Long id;
    }

    @Test
    void entities_that_make_jobs_are_named_only_once_the_unit_has_started(TestSchema schema) {
        PrintStream before = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try (TestUnit fails = TestUnit.on(schema, NeverStarted.class).with("hibernate.hbm2ddl.auto", "validate");
                TestUnit starts = TestUnit.on(schema, Right.class).without("hibernate.hbm2ddl.auto")) {
            assertThat(catchThrowable(fails::factory)).hasStackTraceContaining("missing table");
            assertThat(starts.factory().isOpen()).isTrue();
        } finally {
            System.setErr(before);
        }
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains("Changes of the entities [Right] make jobs")
                .doesNotContain("Changes of the entities [NeverStarted]");
    }

    private static void fails(TestSchema schema, String property, Object value, String message) {
        try (TestUnit unit = TestUnit.on(schema, Right.class).with(property, value)) {
            assertThatThrownBy(unit::factory).hasStackTraceContaining(message);
        }
    }

    @Test
    void wrong_settings_fail_the_start(TestSchema schema) {
        fails(schema, "rowlock.shcema", "x", "Unknown persistence-unit property rowlock.shcema");
        fails(schema, "rowlock.stateless", "maybe", "rowlock.stateless must be fail or warn, got maybe");
        fails(schema, "rowlock.bulk", "maybe", "rowlock.bulk must be warn or fail or allow, got maybe");
        fails(
                schema,
                "rowlock.max-payload-bytes",
                "much",
                "rowlock.max-payload-bytes must be a whole number, got much");
        fails(schema, "rowlock.schema", "Bad-Name", "schema must be a lower-case SQL identifier");
    }
}
