package io.rowlock.jpa;

import org.jspecify.annotations.Nullable;

/**
 * The payload of jobs from an {@link OutboxJob} on a type: which row changed, not what is in it. The handler reads the
 * entity again and finds its newest state. Handle it by its kind:
 * {@code JobKind.named("customer-changed", EntityChanged.class)}.
 *
 * @param entity the entity's name, by default the class's simple name
 * @param id the id as text; of a composite id, a JSON object with its attributes in the order of their names, where a
 *     reference stands as the id of what it refers to
 * @param change what happened
 * @param version the value of the version attribute after the change as text, or null if the entity has none
 */
public record EntityChanged(
        String entity, String id, Change change, @Nullable String version) {}
