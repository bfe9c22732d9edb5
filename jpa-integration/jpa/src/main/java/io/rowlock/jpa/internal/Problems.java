package io.rowlock.jpa.internal;

import io.rowlock.error.InvalidUseException;
import java.util.ArrayList;
import java.util.List;

/** The mistakes found so far, so that a start-up reports all of them at once. */
final class Problems {
    private final List<String> found = new ArrayList<>();

    void add(String where, String problem) {
        found.add(where + ": " + problem);
    }

    void throwIfAny() {
        if (!found.isEmpty()) {
            throw new InvalidUseException("@OutboxJob is used wrongly in " + found.size()
                    + (found.size() == 1 ? " place" : " places") + ":\n- " + String.join("\n- ", found));
        }
    }
}
