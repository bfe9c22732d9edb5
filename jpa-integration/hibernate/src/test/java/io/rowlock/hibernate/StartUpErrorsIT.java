package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.PayloadFactory;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Basic;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OneToOne;
import jakarta.persistence.Transient;
import jakarta.persistence.Version;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.hibernate.annotations.Formula;
import org.hibernate.annotations.GeneratedColumn;
import org.hibernate.annotations.SourceType;
import org.hibernate.annotations.UpdateTimestamp;
import org.hibernate.engine.spi.PersistentAttributeInterceptable;
import org.hibernate.engine.spi.PersistentAttributeInterceptor;
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

    @Kind("seen")
    record Seen(String text) {}

    record Unnamed(String text) {}

    @Kind(" ")
    record Blank(String text) {}

    interface Marked {
        @OutboxJob(on = Change.PERSIST)
        default Seen marked() {
            return new Seen("");
        }
    }

    @Embeddable
    static class Part {
        String text;

        @Column(updatable = false)
        String fixed;

        @OutboxJob(on = Change.PERSIST)
        Seen part() {
            return new Seen("");
        }
    }

    @MappedSuperclass
    @OutboxJob(kind = "above", on = Change.UPDATE, changed = "nmae")
    abstract static class Above {
        @OutboxJob(on = Change.UPDATE, changed = "nmae")
        Seen above(EntityChange<Above> change) {
            return new Seen("");
        }
    }

    static class OfAnother implements PayloadFactory<Right, Seen> {
        @Override
        public List<Seen> payloads(EntityChange<Right> change) {
            return List.of();
        }
    }

    abstract static class Abstract implements PayloadFactory<Wrong, Seen> {}

    static class NeedsText implements PayloadFactory<Wrong, Seen> {
        NeedsText(String text) {
            throw new AssertionError("never made" + text);
        }

        @Override
        public List<Seen> payloads(EntityChange<Wrong> change) {
            return List.of();
        }
    }

    static class OfSets implements PayloadFactory<Wrong, Set<Seen>> {
        @Override
        public List<Set<Seen>> payloads(EntityChange<Wrong> change) {
            return List.of();
        }
    }

    /** As bytecode enhancement makes it. */
    abstract static class Enhanced extends Above implements PersistentAttributeInterceptable {
        @Override
        public PersistentAttributeInterceptor $$_hibernate_getInterceptor() {
            return null;
        }

        @Override
        public void $$_hibernate_setInterceptor(PersistentAttributeInterceptor interceptor) {
            // none is ever set
        }
    }

    @Entity(name = "WrongOne")
    @OutboxJob(on = Change.PERSIST)
    @OutboxJob(on = Change.PERSIST)
    @OutboxJob(kind = " ", on = Change.PERSIST)
    @OutboxJob(
            kind = "no-change",
            on = {})
    @OutboxJob(kind = "both", on = Change.UPDATE, changed = "name", ignoring = "amount")
    @OutboxJob(kind = "no-update", on = Change.PERSIST, changed = "name")
    @OutboxJob(kind = "no-update-either", on = Change.PERSIST, ignoring = "name")
    @OutboxJob(kind = "misspelt", on = Change.UPDATE, changed = "part.txet", orderedBy = "nme", subject = "xx")
    @OutboxJob(
            kind = "blank",
            on = Change.UPDATE,
            changed = {"", "name"},
            orderedBy = " ",
            queue = " ")
    @OutboxJob(
            kind = "unchanged",
            on = Change.UPDATE,
            changed = {"id", "version", "tripled", "doubled", "stamped", "fixed", "part.fixed", "mirror", "rights"})
    @OutboxJob(
            kind = "unignored",
            on = Change.UPDATE,
            ignoring = {"id", "version", "tripled", "rights", "transientOne"})
    @OutboxJob(kind = "key-1", on = Change.UPDATE, orderedBy = "tripled", subject = "words")
    @OutboxJob(kind = "key-2", on = Change.UPDATE, orderedBy = "mirror", subject = "rights")
    @OutboxJob(kind = "key-3", on = Change.UPDATE, orderedBy = "lazy", subject = "part")
    @OutboxJob(kind = "key-4", on = Change.UPDATE, orderedBy = "version")
    @OutboxJob(kind = "twice", on = Change.PERSIST)
    @OutboxJob(
            kind = "twice",
            on = {Change.UPDATE, Change.PERSIST})
    @OutboxJob(payload = OfAnother.class, on = Change.PERSIST)
    @OutboxJob(payload = Abstract.class, on = Change.PERSIST)
    @OutboxJob(payload = NeedsText.class, on = Change.UPDATE)
    @OutboxJob(payload = OfSets.class, on = Change.PERSIST)
    static class Wrong extends Enhanced implements Marked {
        @Id
        Long id;

        @Version
        int version;

        String name;

        int amount;

        @Column(updatable = false)
        String fixed;

        @Column(name = "name", insertable = false, updatable = false)
        String mirror;

        @Formula("amount * 3")
        Integer tripled;

        @GeneratedColumn("amount * 2")
        Integer doubled;

        @UpdateTimestamp(source = SourceType.DB)
        Instant stamped;

        @Basic(fetch = FetchType.LAZY)
        String lazy;

        @Transient
        String transientOne;

        @Embedded
        Part part;

        @ElementCollection
        Set<String> words;

        @OneToMany(mappedBy = "wrong")
        Set<Referring> rights;

        @OutboxJob(on = Change.PERSIST)
        static Seen ofTheClass() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        void nothing() {}

        @OutboxJob(on = Change.PERSIST)
        @SuppressWarnings("rawtypes")
        Optional raw() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        Set<Seen> set() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        Object object() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        int number() {
            return 0;
        }

        @OutboxJob(on = Change.PERSIST)
        Wrong self() {
            return this;
        }

        @OutboxJob(on = Change.PERSIST, kind = "wild")
        List<? extends Seen> wild() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        Seen overloaded(String text) {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        Seen overloaded(EntityChange<Right> change) {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        Unnamed unnamed() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        Blank blank() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST, payload = NeedsText.class)
        Seen made() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        @OutboxJob(on = Change.PERSIST, kind = "seen")
        Seen twice() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST, kind = "seen")
        One another() {
            return null;
        }
    }

    @Entity(name = "Referring")
    static class Referring {
        @Id
        Long id;

        @ManyToOne
        Wrong wrong;
    }

    @Test
    void every_mistake_is_told_with_its_place_and_what_to_write_instead(TestSchema schema) throws Exception {
        String expected = Files.readString(Path.of(
                StartUpErrorsIT.class.getResource("/start-up-errors.txt").toURI()));
        try (TestUnit unit = TestUnit.on(schema, Wrong.class, Right.class, Referring.class, Part.class, Above.class)
                .without("hibernate.hbm2ddl.auto")) {
            Throwable thrown = TestUnit.root(catchThrowable(unit::factory));
            assertThat(thrown).isInstanceOf(InvalidUseException.class);
            assertThat(thrown.getMessage().lines())
                    .containsExactlyElementsOf(expected.lines().toList());
        }
    }

    /** What may look wrong, but works. */
    @Entity(name = "Unusual")
    @OutboxJob(
            kind = "unusual",
            on = Change.UPDATE,
            ignoring = {"doubled", "fixed", "mirror"},
            orderedBy = "pk.region",
            subject = "pk.number")
    @OutboxJob(
            kind = "unusual",
            on = {Change.PERSIST, Change.REMOVE},
            orderedBy = "doubled",
            subject = "fixed")
    @OutboxJob(kind = "lazy", on = Change.UPDATE, changed = "lazy", orderedBy = "lazy")
    static class Unusual {
        @EmbeddedId
        Pk pk;

        int amount;

        @GeneratedColumn("amount * 2")
        Integer doubled;

        @Column(updatable = false)
        String fixed;

        @Column(name = "amount", insertable = false, updatable = false)
        Integer mirror;

        @Basic(fetch = FetchType.LAZY)
        String lazy;
    }

    @Embeddable
    record Pk(String region, int number) {}

    @Test
    void what_may_look_wrong_but_works_is_no_mistake(TestSchema schema) {
        try (TestUnit unit = TestUnit.on(schema, Unusual.class).without("hibernate.hbm2ddl.auto")) {
            assertThat(unit.factory().isOpen()).isTrue();
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
