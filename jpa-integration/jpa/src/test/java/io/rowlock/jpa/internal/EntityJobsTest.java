package io.rowlock.jpa.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class EntityJobsTest {
    @Kind("good")
    record Good(String text) {}

    record Unnamed(String text) {}

    @Kind(" ")
    record BlankName(String text) {}

    @Kind("good")
    record SameName(String text) {}

    /** Never asked: nothing here makes a payload by a factory. */
    private static final BeanSource FACTORIES = new BeanSource() {
        @Override
        public <B> B bean(Class<B> type) {
            throw new AssertionError("No factory is needed");
        }
    };

    private static EntityType type(Class<?> entity) {
        return new EntityType(
                entity.getName(),
                entity.getSimpleName(),
                entity,
                Map.of(
                        "id", AttributeRole.IDENTIFIER,
                        "version", AttributeRole.VERSION,
                        "status", AttributeRole.CHANGEABLE,
                        "address", AttributeRole.EMBEDDED,
                        "address.city", AttributeRole.CHANGEABLE,
                        "photo", AttributeRole.WITHOUT_TEXT,
                        "letter", AttributeRole.LAZY,
                        "tags", AttributeRole.COLLECTION,
                        "lines", AttributeRole.INVERSE),
                Set.of(Embedded.class));
    }

    private static String problemsOf(Class<?>... entities) {
        List<EntityType> types =
                Arrays.stream(entities).map(EntityJobsTest::type).toList();
        InvalidUseException thrown =
                catchThrowableOfType(InvalidUseException.class, () -> EntityJobs.of(types, FACTORIES));
        assertThat(thrown).isNotNull();
        return thrown.getMessage();
    }

    static class Plain {}

    static class Embedded {}

    @Test
    void entities_without_annotations_have_no_rules() {
        EntityJobs jobs = EntityJobs.of(List.of(type(Plain.class)), FACTORIES);
        assertThat(jobs.isEmpty()).isTrue();
        assertThat(jobs.rules(Plain.class.getName())).isNull();
    }

    static class Attributes {
        @OutboxJob(
                on = Change.UPDATE,
                changed = {"statsu", "id", "version", "lines", "tags", "address.city", "address.town", "zzzzzzzz"})
        Good good() {
            return new Good("");
        }

        @OutboxJob(
                on = Change.UPDATE,
                ignoring = {"status", "address.city", "tags", "version", "lines"})
        Good ignoring() {
            return new Good("");
        }

        @OutboxJob(on = Change.UPDATE, changed = "status", ignoring = "tags")
        Good both() {
            return new Good("");
        }

        @OutboxJob(on = Change.UPDATE, orderedBy = "tags", subject = "version", queue = "  ")
        Good places() {
            return new Good("");
        }

        @OutboxJob(on = Change.UPDATE, changed = "photo", orderedBy = "photo", subject = "letter")
        Good unnamed() {
            return new Good("");
        }

        @OutboxJob(on = Change.UPDATE, orderedBy = "address", subject = "stat")
        Good morePlaces() {
            return new Good("");
        }

        @OutboxJob(on = Change.UPDATE, orderedBy = "id", subject = "address.city", queue = "mail")
        Good right() {
            return new Good("");
        }
    }

    @Test
    void wrong_attributes_are_named_with_the_nearest_known_one() {
        assertThat(problemsOf(Attributes.class))
                .contains("Attributes.good()", "16 places")
                .contains("attribute statsu, which Attributes does not have; did you mean status?")
                .contains("the id id, which never changes")
                .contains("the version version, which every update changes")
                .contains("names lines, the mappedBy side")
                .contains("attribute address.town, which Attributes does not have; did you mean address")
                .contains("zzzzzzzz, which Attributes does not have; it has [address, address.city, id, letter,"
                        + " lines, photo, status, tags, version]")
                .contains("ignoring(): ignoring names the version version, which every update changes; leave it out")
                .contains("ignoring(): ignoring names lines, the mappedBy side")
                .contains("both(): has both changed and ignoring")
                .contains("places(): orderedBy names tags, which is not stored in the row")
                .contains("places(): subject names the version version")
                .contains("places(): queue must not be blank")
                .contains("unnamed(): orderedBy names photo, which is stored as no text or number")
                .contains("unnamed(): subject names letter, which is lazy")
                .contains("morePlaces(): orderedBy names the embedded object address; name one attribute in it")
                .contains("morePlaces(): subject names the attribute stat, which Attributes does not have; did you")
                .doesNotContain(
                        "right()", "changed names photo", "names the collection tags", "the attribute address.city");
    }

    static class Signatures {
        @OutboxJob(on = Change.PERSIST)
        Good twoParameters(EntityChange<Signatures> change, String one) {
            return new Good(one);
        }

        @OutboxJob(on = Change.PERSIST)
        Good foreign(EntityChange<Plain> change) {
            return new Good("");
        }

        @OutboxJob(on = Change.PERSIST)
        Good parameters(String one) {
            return new Good(one);
        }

        @OutboxJob(on = Change.PERSIST)
        static Good ofTheClass() {
            return new Good("");
        }

        @OutboxJob(on = Change.PERSIST)
        void nothing() {}

        @OutboxJob(on = Change.PERSIST, kind = "number")
        int number() {
            return 1;
        }

        @OutboxJob(on = Change.PERSIST, kind = "self")
        Signatures self() {
            return this;
        }

        @OutboxJob(on = Change.PERSIST, kind = "object")
        Object object() {
            return this;
        }

        @OutboxJob(on = Change.PERSIST, kind = "many")
        Good[] many() {
            return new Good[0];
        }

        @OutboxJob(on = Change.PERSIST, kind = "set")
        Set<Good> set() {
            return Set.of();
        }

        @OutboxJob(on = Change.PERSIST, kind = "stream")
        Stream<Good> stream() {
            return Stream.of();
        }

        @SuppressWarnings("rawtypes")
        @OutboxJob(on = Change.PERSIST, kind = "raw")
        List raw() {
            return List.of();
        }

        @OutboxJob(on = Change.PERSIST, kind = "wild")
        List<? extends Good> wild() {
            return List.of();
        }
    }

    @Test
    void wrong_methods_are_named_with_the_reason() {
        assertThat(problemsOf(Signatures.class))
                .contains(
                        "parameters(String): a payload method takes no parameter but an EntityChange<Signatures>; for")
                .contains(
                        "twoParameters(EntityChange, String): a payload method takes no parameter but an EntityChange<Signatures>")
                .contains("foreign(EntityChange): takes the change of a Plain, but is called for those of Signatures")
                .contains("ofTheClass(): a payload method must not be static")
                .contains("nothing(): returns nothing")
                .contains("number(): returns the primitive type int")
                .contains("self(): returns the entity Signatures")
                .contains("object(): returns Object")
                .contains("many(): returns Good[]; for several jobs return a List")
                .contains("set(): returns Set; for several jobs return a List")
                .contains("stream(): returns Stream; for several jobs return a List")
                .contains("raw(): returns a raw List")
                .contains("wild(): returns ? extends")
                .contains("13 places");
    }

    @OutboxJob(on = Change.PERSIST)
    @OutboxJob(kind = "a\u0000b", on = Change.PERSIST)
    @OutboxJob(
            kind = "nothing",
            on = {})
    static class Kinds {
        @OutboxJob(on = Change.PERSIST)
        Unnamed unnamed() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        BlankName blank() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        Good good() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST)
        SameName same() {
            return null;
        }

        @OutboxJob(on = Change.PERSIST, kind = "  ")
        Good blankHere() {
            return null;
        }

        @OutboxJob(on = Change.REMOVE, changed = "status")
        Good changedForNothing() {
            return null;
        }

        @OutboxJob(on = {Change.PERSIST, Change.UPDATE})
        @OutboxJob(on = Change.UPDATE, changed = "status")
        Good twice() {
            return null;
        }
    }

    @Test
    void wrong_kinds_and_changes_are_named_with_the_reason() {
        assertThat(problemsOf(Kinds.class))
                .contains("Kinds, @OutboxJob number 1: an annotation on a type needs a kind")
                .contains("Kinds, @OutboxJob number 2: kind must have no control characters")
                .contains("Kinds, @OutboxJob(kind = \"nothing\"): names no change")
                .contains("unnamed(): payload type " + Unnamed.class.getName() + " has no kind")
                .contains("blank(): kind must not be blank")
                .contains("blankHere(): kind must not be blank")
                .contains("same(): kind good stands for payload type " + SameName.class.getName())
                .contains("changedForNothing(): has changed but is not about UPDATE")
                .contains(
                        "twice(), @OutboxJob number 2: is of the same kind as Kinds.twice(), @OutboxJob number 1, and both are"
                                + " about UPDATE");
    }

    @OutboxJob(kind = "", on = Change.PERSIST)
    static class First {}

    static class Second {
        @OutboxJob(on = Change.UPDATE, changed = "stat")
        Good good() {
            return null;
        }
    }

    static class Third extends Second {}

    @Test
    void mistakes_of_all_entities_are_reported_at_once() {
        assertThat(problemsOf(First.class, Second.class, Third.class))
                .contains("in 3 places")
                .contains("- First: ")
                .contains("- Second.good(): ")
                .contains("- Second.good() as inherited by Third: ");
    }

    interface Watched {
        @OutboxJob(on = Change.PERSIST)
        default Good good() {
            return null;
        }
    }

    interface Deeper extends Watched {}

    abstract static class Middle implements Deeper {}

    static class Below extends Middle {}

    static class Part {
        @OutboxJob(on = Change.UPDATE)
        Good good() {
            return null;
        }
    }

    @Test
    void annotations_that_nobody_reads_are_mistakes() {
        assertThat(problemsOf(Below.class)).contains("Below: has annotations on the interface Watched");
        EntityType withPart = new EntityType("key", "Plain", Plain.class, Map.of(), Set.of(Part.class));
        assertThatThrownBy(() -> EntityJobs.of(List.of(withPart), FACTORIES))
                .hasMessageContaining("Plain: has annotations on the embeddable Part");
    }

    static class Several {
        @OutboxJob(
                on = {Change.PERSIST, Change.UPDATE},
                changed = "status")
        @OutboxJob(kind = "copy", on = Change.PERSIST)
        @OutboxJob(kind = "unwanted", on = Change.PERSIST)
        Good one() {
            return new Good("one");
        }

        @OutboxJob(on = Change.UPDATE)
        Optional<Good> maybe() {
            return Optional.of(new Good("maybe"));
        }

        @OutboxJob(on = Change.REMOVE)
        List<Good> both() {
            return List.of(new Good("a"), new Good("b"));
        }

        @OutboxJob(on = Change.PERSIST)
        Good none() {
            return null;
        }
    }

    private static List<String> requests(Change change, Set<String> dirty) {
        EntityRules rules =
                EntityJobs.of(List.of(type(Several.class)), FACTORIES).rules(Several.class.getName());
        ChangedEntity changed =
                new ChangedEntity(rules, new Several(), Set.of(change), dirty, new FixedFacts("7", null));
        return rules.requests(changed, kind -> !kind.equals("unwanted")).stream()
                .map(EntityJobsTest::described)
                .toList();
    }

    private static String described(JobRequest<?> request) {
        return request.kind().name() + " " + ((Good) request.payload()).text() + " "
                + request.options().subject().orElseThrow();
    }

    @Test
    void rules_make_the_jobs_they_are_about() {
        assertThat(requests(Change.PERSIST, null)).containsExactly("good one Several:7", "copy one Several:7");
        assertThat(requests(Change.UPDATE, Set.of("status")))
                .containsExactly("good maybe Several:7", "good one Several:7");
        assertThat(requests(Change.UPDATE, Set.of("address"))).containsExactly("good maybe Several:7");
        assertThat(requests(Change.UPDATE, null))
                .as("a provider that cannot tell")
                .containsExactly("good maybe Several:7", "good one Several:7");
        assertThat(requests(Change.REMOVE, null)).containsExactly("good a Several:7", "good b Several:7");
    }

    @Test
    void message_of_one_mistake_is_in_the_singular() {
        assertThatThrownBy(() -> EntityJobs.of(List.of(type(First.class)), FACTORIES))
                .hasMessageContaining("in 1 place:");
    }

    @Kind(value = "versioned", version = 2)
    record Versioned(String text) {}

    static class Versions {
        @OutboxJob(on = Change.PERSIST)
        Versioned own() {
            return new Versioned("");
        }

        @OutboxJob(on = Change.UPDATE, kind = "another")
        Versioned other() {
            return new Versioned("");
        }

        @OutboxJob(on = Change.REMOVE, kind = "unversioned")
        Unnamed unnamed() {
            return new Unnamed("");
        }
    }

    @Test
    void kinds_have_the_version_of_the_payloads_class_under_another_name_too() {
        assertThat(EntityJobs.of(List.of(type(Versions.class)), FACTORIES).kinds())
                .extracting(kind -> kind.name() + ' ' + kind.version())
                .containsExactlyInAnyOrder("versioned 2", "another 2", "unversioned 1");
    }
}
