package io.rowlock.jpa.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What payload methods are told of a change. */
final class RuleChangeTest {
    private static EntityChange<Object> change(Change operation, Set<String> dirty) {
        EntityRules rules = new EntityRules("Person", Set.of("name", "address", "address.city", "photo"), List.of());
        FixedFacts facts = new FixedFacts("7", null, Map.of("name", "Ada"), Map.of("name", "Eve"));
        return new RuleChange(new ChangedEntity(rules, "entity", Set.of(operation), dirty, facts), operation);
    }

    @Test
    void update_tells_what_changed_and_the_values_before_and_after() {
        EntityChange<Object> update = change(Change.UPDATE, Set.of("name", "address.city"));
        assertThat(update.operation()).isEqualTo(Change.UPDATE);
        assertThat(update.dirtyAttributes()).containsExactlyInAnyOrder("name", "address.city");
        assertThat(update.changed("address")).isTrue();
        assertThat(update.changed("photo")).isFalse();
        assertThat(update.oldValue("name")).isEqualTo("Ada");
        assertThat(update.newValue("name")).isEqualTo("Eve");
    }

    @Test
    void insert_has_nothing_before_and_a_delete_nothing_after() {
        EntityChange<Object> insert = change(Change.PERSIST, null);
        assertThat(insert.oldValue("photo")).isNull();
        assertThat(insert.newValue("name")).isEqualTo("Eve");
        assertThat(insert.changed("photo")).isTrue();
        EntityChange<Object> delete = change(Change.REMOVE, null);
        assertThat(delete.oldValue("name")).isEqualTo("Ada");
        assertThat(delete.newValue("name")).isNull();
        assertThat(delete.dirtyAttributes()).isEmpty();
    }

    @Test
    void update_that_the_provider_cannot_tell_may_have_changed_anything() {
        EntityChange<Object> update = change(Change.UPDATE, null);
        assertThat(update.dirtyAttributes()).isEmpty();
        assertThat(update.changed("photo")).isTrue();
        assertThat(update.knowsOldValue("photo")).isFalse();
        assertThatThrownBy(() -> update.oldValue("photo"))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("photo of Person 7 before the change is not known");
    }

    @Test
    void value_that_was_not_loaded_is_not_known() {
        EntityChange<Object> update = change(Change.UPDATE, Set.of("name"));
        assertThat(update.changed("photo")).isFalse();
        assertThat(update.knowsNewValue("name")).isTrue();
        assertThat(update.knowsNewValue("photo")).isFalse();
        assertThatThrownBy(() -> update.newValue("photo"))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("photo of Person 7 is not known, as it is lazy")
                .hasMessageContaining("ask knowsNewValue first");
    }

    @Test
    void unknown_attributes_are_refused() {
        EntityChange<Object> update = change(Change.UPDATE, Set.of());
        assertThatThrownBy(() -> update.newValue("nmae"))
                .hasMessageContaining("Person has no attribute nmae; it has [address, address.city, name, photo]");
        assertThatThrownBy(() -> update.changed(null)).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> update.knowsOldValue("x")).isInstanceOf(InvalidUseException.class);
    }
}
