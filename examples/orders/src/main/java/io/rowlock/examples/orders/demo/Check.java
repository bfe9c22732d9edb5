package io.rowlock.examples.orders.demo;

import java.util.List;

/**
 * One thing that must be true at the end.
 *
 * @param promise what
 * @param violations what speaks against it; empty if it is true
 */
record Check(String promise, List<String> violations) {
    Check {
        violations = List.copyOf(violations);
    }

    boolean passed() {
        return violations.isEmpty();
    }
}
