package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Inheritance;
import jakarta.persistence.InheritanceType;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.Table;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Annotations of superclasses count for subclasses, however these are stored. */
@Corner("Inheritance")
@Tag("B35")
final class InheritanceIT extends ProviderTest {
    @Kind("named")
    record Named(String text) {}

    @MappedSuperclass
    @OutboxJob(
            kind = "any",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public abstract static class Base {
        @Id
        int id;

        String name = "Rex";

        @OutboxJob(on = Change.UPDATE, changed = "name")
        Named named() {
            return new Named(name);
        }
    }

    @Entity(name = "Animal")
    @Table(name = "animal")
    @Inheritance(strategy = InheritanceType.JOINED)
    public static class Animal extends Base {}

    @Entity(name = "Dog")
    @Table(name = "dog")
    @OutboxJob(kind = "trick", on = Change.UPDATE, changed = "trick")
    public static class Dog extends Animal {
        String trick;

        /** Called in the place of the method above. */
        @Override
        Named named() {
            return new Named(name + " the dog");
        }
    }

    @Entity(name = "Parrot")
    @Table(name = "parrot")
    public static class Parrot extends Animal {
        /** The annotations of the method above are replaced. */
        @Override
        @OutboxJob(kind = "spoken", on = Change.PERSIST)
        Named named() {
            return new Named(name + "!");
        }

        @OutboxJob(kind = "heard", on = Change.PERSIST)
        @SuppressWarnings("UnusedMethod") // called by Rowlock, private or not
        private Named heard() {
            return new Named(name + "?");
        }
    }

    @Entity(name = "Payment")
    @Table(name = "payment")
    @Inheritance(strategy = InheritanceType.SINGLE_TABLE)
    public static class Payment extends Base {}

    @Entity(name = "CardPayment")
    @OutboxJob(kind = "trick", on = Change.UPDATE, changed = "card")
    public static class CardPayment extends Payment {
        String card;
    }

    @Entity(name = "Shape")
    @Table(name = "shape")
    @Inheritance(strategy = InheritanceType.TABLE_PER_CLASS)
    public static class Shape extends Base {}

    @Entity(name = "Circle")
    @Table(name = "circle")
    @OutboxJob(kind = "trick", on = Change.UPDATE, changed = "radius")
    public static class Circle extends Shape {
        int radius;
    }

    InheritanceIT(TestSchema schema) {
        super(
                schema,
                Base.class,
                Animal.class,
                Dog.class,
                Parrot.class,
                Payment.class,
                CardPayment.class,
                Shape.class,
                Circle.class);
    }

    private void assertJobs(Base parent, Base child, String name, Runnable change) throws Exception {
        child.id = 1;
        assertThat(changesBy(em -> {
                    em.persist(parent);
                    em.persist(child);
                }))
                .containsExactlyInAnyOrder(entity(parent) + " 0 PERSIST", name + " 1 PERSIST");
        child.name = "Bello";
        assertThat(changesBy(em -> em.merge(child))).containsExactly(name + " 1 UPDATE");
        assertThat(kinds()).containsExactly("any", "named");
        change.run();
        assertThat(changesBy(em -> em.merge(child))).hasSize(2).containsOnly(name + " 1 UPDATE");
        assertThat(kinds()).containsExactly("any", "trick");
        assertThat(changesBy(em -> em.remove(em.merge(child)))).containsExactly(name + " 1 REMOVE");
    }

    private static String entity(Base parent) {
        return parent.getClass().getSimpleName();
    }

    @Test
    @Corner("a mapped superclass: its annotations are inherited")
    void mapped_superclass() throws Exception {
        unit.commit(em -> em.persist(new Animal()));
        unit.commit(em -> em.find(Animal.class, 0).name = "Bello");
        assertThat(kinds()).containsExactly("any", "any", "named");
        assertThat(texts("named")).containsExactly("Bello");
    }

    @Test
    @Corner("an overriding method is called in the place of the overridden one")
    void overriding() throws Exception {
        unit.commit(em -> em.persist(new Dog()));
        unit.commit(em -> em.find(Animal.class, 0).name = "Bello");
        assertThat(texts("named")).containsExactly("Bello the dog");
    }

    @Test
    @Corner("JOINED")
    void joined() throws Exception {
        Dog dog = new Dog();
        assertJobs(new Animal(), dog, "Dog", () -> dog.trick = "sit");
    }

    @Test
    @Corner("SINGLE_TABLE")
    void single_table() throws Exception {
        CardPayment card = new CardPayment();
        assertJobs(new Payment(), card, "CardPayment", () -> card.card = "1234");
    }

    @Test
    @Corner("TABLE_PER_CLASS")
    void table_per_class() throws Exception {
        Circle circle = new Circle();
        assertJobs(new Shape(), circle, "Circle", () -> circle.radius = 3);
    }

    @Test
    @Corner("an overriding method with annotations of its own: these alone")
    void overriding_with_annotations() throws Exception {
        unit.commit(em -> em.persist(new Parrot()));
        unit.commit(em -> em.find(Animal.class, 0).name = "Bello");
        assertThat(kinds()).containsExactly("any", "any", "heard", "spoken");
        assertThat(texts("spoken")).containsExactly("Rex!");
    }

    @Test
    @Corner("a private method of a subclass")
    void private_method() throws Exception {
        unit.commit(em -> em.persist(new Parrot()));
        assertThat(texts("heard")).containsExactly("Rex?");
    }
}
