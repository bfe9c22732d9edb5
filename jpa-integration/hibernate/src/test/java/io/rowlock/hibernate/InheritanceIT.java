package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Inheritance;
import jakarta.persistence.InheritanceType;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Annotations of superclasses, and changes that touch no column of the entity's own. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("B35")
final class InheritanceIT {
    @Kind("named")
    record Named(String name) {}

    @Kind("loud")
    record Loud(String name) {}

    @MappedSuperclass
    abstract static class Base {
        @Id
        @GeneratedValue
        Long id;

        @Version
        int version;

        String name;

        @OutboxJob(
                on = {Change.PERSIST, Change.UPDATE},
                changed = "name")
        Named named() {
            return new Named(name);
        }
    }

    @Entity(name = "Animal")
    @Inheritance(strategy = InheritanceType.JOINED)
    @OutboxJob(kind = "animal", on = Change.UPDATE)
    static class Animal extends Base {
        @ElementCollection
        List<String> toys = new ArrayList<>();
    }

    @Entity(name = "Dog")
    static class Dog extends Animal {
        String tricks;
    }

    @Entity(name = "Parrot")
    static class Parrot extends Animal {
        /** An override with annotations of its own replaces the one above. */
        @Override
        @OutboxJob(kind = "spoken", on = Change.PERSIST)
        Named named() {
            return new Named(name + "!");
        }
    }

    @Entity(name = "Cat")
    static class Cat extends Animal {
        /** An override without annotations is called in the place of the one above. */
        @Override
        Named named() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        @SuppressWarnings("UnusedMethod") // called by Rowlock, private or not
        private Loud loud() {
            return new Loud(name);
        }
    }

    private final TestSchema schema;
    private final TestUnit unit;

    InheritanceIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Animal.class, Dog.class, Parrot.class, Cat.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void empty() throws Exception {
        schema.execute("DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private <T extends Animal> T stored(T animal) {
        animal.name = "Rex";
        unit.commit(em -> em.persist(animal));
        return animal;
    }

    @Test
    void annotations_of_mapped_superclass_and_entity_superclass_are_inherited() throws Exception {
        Dog dog = stored(new Dog());
        assertThat(unit.jobs()).containsExactly("named {\"name\":\"Rex\"}");
        unit.commit(em -> em.find(Animal.class, dog.id).name = "Bello");
        assertThat(unit.jobs())
                .containsExactly(
                        "named {\"name\":\"Rex\"}",
                        "named {\"name\":\"Bello\"}",
                        "animal {\"entity\":\"Dog\",\"id\":\"" + dog.id
                                + "\",\"change\":\"UPDATE\",\"version\":\"1\"}");
    }

    @Test
    void attribute_of_the_subclass_is_an_update_but_not_of_the_superclass_attribute() throws Exception {
        Dog dog = stored(new Dog());
        unit.commit(em -> em.find(Dog.class, dog.id).tricks = "sit");
        assertThat(unit.kinds()).containsExactly("named", "animal");
    }

    @Test
    void overriding_methods_replace_the_overridden_ones() throws Exception {
        stored(new Parrot());
        stored(new Cat());
        assertThat(unit.jobs()).containsExactly("spoken {\"name\":\"Rex!\"}", "loud {\"name\":\"Rex\"}");
    }

    @Test
    void owned_collection_of_a_versioned_owner_is_an_update_of_no_attribute() throws Exception {
        Dog dog = stored(new Dog());
        unit.commit(em -> em.find(Dog.class, dog.id).toys.add("ball"));
        assertThat(unit.kinds()).containsExactly("named", "animal");
    }
}
