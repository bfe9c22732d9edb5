package io.rowlock.jpa.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.RowlockException;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.PayloadFactory;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Payloads that a factory makes. */
final class PayloadFactoryTest {
    @Kind("greeted")
    record Greeted(String text) {}

    /** Says how often it was made. */
    static final class Greeter implements PayloadFactory<Person, Greeted> {
        static final AtomicInteger MADE = new AtomicInteger();

        Greeter() {
            MADE.incrementAndGet();
        }

        @Override
        public List<Greeted> payloads(EntityChange<Person> change) {
            return List.of(new Greeted(change.operation() + " " + change.oldValue("name")));
        }
    }

    abstract static class Generic<P> implements PayloadFactory<Object, P> {}

    static final class Inherited extends Generic<Greeted> {
        @Override
        public List<Greeted> payloads(EntityChange<Object> change) {
            throw new IllegalStateException("no service");
        }
    }

    @OutboxJob(payload = Greeter.class, on = Change.UPDATE)
    @OutboxJob(payload = Inherited.class, on = Change.REMOVE)
    static class Person {}

    static final class OfAnother implements PayloadFactory<Greeted, Greeted> {
        @Override
        public List<Greeted> payloads(EntityChange<Greeted> change) {
            return List.of();
        }
    }

    static final class OfEntities extends Generic<Wrong> {
        @Override
        public List<Wrong> payloads(EntityChange<Object> change) {
            return List.of();
        }
    }

    @OutboxJob(payload = OfAnother.class, on = Change.UPDATE)
    @OutboxJob(kind = "entities", payload = OfEntities.class, on = Change.UPDATE)
    static class Wrong {
        @OutboxJob(payload = Greeter.class, on = Change.UPDATE)
        Greeted method() {
            return new Greeted("");
        }
    }

    private static EntityJobs jobs(Class<?> entity) {
        Map<String, AttributeRole> attributes = Map.of("name", AttributeRole.CHANGEABLE);
        return EntityJobs.of(
                List.of(new EntityType("key", entity.getSimpleName(), entity, attributes, Set.of())), new BeanSource() {
                    @Override
                    public <B> B bean(Class<B> type) {
                        try {
                            return type.getDeclaredConstructor().newInstance();
                        } catch (ReflectiveOperationException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                });
    }

    private static List<Object> payloads(EntityJobs jobs, Change change) {
        EntityRules rules = jobs.rules("key");
        assertThat(rules).isNotNull();
        FixedFacts facts = new FixedFacts("7", null, Map.of("name", "Ada"), Map.of("name", "Eve"));
        ChangedEntity changed = new ChangedEntity(rules, new Person(), Set.of(change), Set.of("name"), facts);
        return rules.requests(changed, kind -> true).stream()
                .<Object>map(request -> request.payload())
                .toList();
    }

    @Test
    void factory_is_made_once_when_first_needed_and_sees_the_change() {
        int before = Greeter.MADE.get();
        EntityJobs jobs = jobs(Person.class);
        assertThat(Greeter.MADE).hasValue(before);
        assertThat(payloads(jobs, Change.UPDATE)).containsExactly(new Greeted("UPDATE Ada"));
        assertThat(payloads(jobs, Change.UPDATE)).hasSize(1);
        assertThat(Greeter.MADE).hasValue(before + 1);
    }

    @Test
    void what_a_factory_throws_names_it_and_the_entity() {
        EntityJobs jobs = jobs(Person.class);
        assertThatThrownBy(() -> payloads(jobs, Change.REMOVE))
                .isInstanceOf(RowlockException.class)
                .hasMessageContaining("Payload factory Inherited for Person 7 threw")
                .hasRootCauseMessage("no service");
    }

    @Test
    void wrong_factories_are_named_at_start_up() {
        assertThatThrownBy(() -> jobs(Wrong.class))
                .hasMessageContaining(
                        "Wrong, @OutboxJob(payload = OfAnother.class): payload factory OfAnother is for Greeted, but named by Wrong")
                .hasMessageContaining("payload factory OfEntities makes the entity Wrong as payload")
                .hasMessageContaining("Wrong.method(): names a payload factory, but the method makes the payload");
    }
}
