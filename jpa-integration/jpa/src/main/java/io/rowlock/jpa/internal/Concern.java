package io.rowlock.jpa.internal;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which updates a rule is about.
 *
 * @param changed attributes, or paths, of which one must have changed; empty for any
 * @param ignoring attributes, or paths, that do not count
 */
record Concern(Set<String> changed, Set<String> ignoring) {
    Concern {
        changed = Set.copyOf(changed);
        ignoring = Set.copyOf(ignoring);
    }

    /** Whether it is about every update in which anything changed. */
    boolean isAny() {
        return changed.isEmpty() && ignoring.isEmpty();
    }

    /** Whether an update is meant. What the provider changes with each counts only where it is named. */
    boolean isAbout(ChangedEntity update) {
        return matches(changed.isEmpty() ? update.dirty() : update.differing());
    }

    /** Whether an update that changed this is meant: null where nobody knows, which counts as all. */
    boolean matches(@Nullable Set<String> dirty) {
        if (dirty == null) {
            return true;
        }
        return dirty.stream()
                .anyMatch(path -> changed.isEmpty()
                        ? ignoring.stream().noneMatch(each -> isIn(path, each))
                        : changed.stream().anyMatch(each -> isIn(path, each) || isIn(each, path)));
    }

    /** Whether the path is the other one, or leads into it. */
    static boolean isIn(String path, String other) {
        return path.equals(other) || (path.startsWith(other) && path.charAt(other.length()) == '.');
    }
}
