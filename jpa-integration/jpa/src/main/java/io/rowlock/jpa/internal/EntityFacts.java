package io.rowlock.jpa.internal;

import org.jspecify.annotations.Nullable;

/** What an adapter can tell of a changed entity; asked when the payload is made, not before. */
public interface EntityFacts {
    /** The id as text, see {@link IdText}. */
    String id();

    /** The version attribute's value as text, or null if there is none. */
    @Nullable
    String version();

    /** Remembers the entity's attributes. Running the answer throws if one of them is another now. */
    Runnable watch();
}
