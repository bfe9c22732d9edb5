package io.rowlock.jpa.internal;

import static io.rowlock.jpa.Change.PERSIST;
import static io.rowlock.jpa.Change.REMOVE;
import static io.rowlock.jpa.Change.UPDATE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class FlushChangesTest {
    private final EntityRules rules = new EntityRules("Any", Set.of(), List.of());
    private final FlushChanges changes = new FlushChanges();

    private void add(String entity, Change change, String... dirty) {
        changes.add(new ChangedEntity(rules, entity, Set.of(change), Set.of(dirty), new FixedFacts(entity, null)));
    }

    private List<String> taken() {
        return changes.take().stream()
                .map(each -> each.entity() + " " + each.changes())
                .toList();
    }

    @Test
    void one_change_for_each_entity_in_the_order_of_their_first() {
        add("a", PERSIST);
        add("b", UPDATE);
        add("a", UPDATE);
        assertThat(taken()).containsExactly("a [PERSIST]", "b [UPDATE]");
    }

    @Test
    void persisted_and_removed_is_nothing() {
        add("a", PERSIST);
        add("a", UPDATE);
        add("a", REMOVE);
        assertThat(changes.isEmpty()).isTrue();
        assertThat(taken()).isEmpty();
    }

    @Test
    void updated_and_removed_is_removed() {
        add("a", UPDATE);
        add("a", REMOVE);
        assertThat(taken()).containsExactly("a [REMOVE]");
    }

    @Test
    void removed_and_persisted_again_is_both() {
        add("a", REMOVE);
        add("a", PERSIST);
        add("a", UPDATE);
        assertThat(taken()).containsExactly("a [REMOVE]", "a [PERSIST]");
    }

    @Test
    void persisted_removed_and_persisted_again_is_persisted() {
        add("a", PERSIST);
        add("a", REMOVE);
        add("a", PERSIST);
        assertThat(taken()).containsExactly("a [PERSIST]");
    }

    @Test
    void two_updates_are_one_of_all_their_attributes() {
        add("a", UPDATE, "x");
        add("a", UPDATE, "y");
        assertThat(changes.take())
                .singleElement()
                .satisfies(each -> assertThat(each.dirty()).containsExactlyInAnyOrder("x", "y"));
    }

    @Test
    void update_of_unknown_attributes_makes_the_whole_unknown() {
        add("a", UPDATE, "x");
        changes.add(new ChangedEntity(rules, "a", Set.of(UPDATE), null, new FixedFacts("a", null)));
        assertThat(changes.take())
                .singleElement()
                .satisfies(each -> assertThat(each.dirty()).isNull());
    }

    @Test
    void equal_entities_are_not_the_same_entity() {
        changes.add(new ChangedEntity(rules, new String("a"), Set.of(PERSIST), null, new FixedFacts("1", null)));
        changes.add(new ChangedEntity(rules, new String("a"), Set.of(REMOVE), null, new FixedFacts("1", null)));
        assertThat(taken()).containsExactly("a [PERSIST]", "a [REMOVE]");
    }

    @Test
    void what_was_taken_is_forgotten() {
        add("a", PERSIST);
        assertThat(taken()).hasSize(1);
        assertThat(taken()).isEmpty();
        add("a", REMOVE);
        assertThat(taken()).containsExactly("a [REMOVE]");
    }
}
