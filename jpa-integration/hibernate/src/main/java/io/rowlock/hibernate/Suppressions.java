package io.rowlock.hibernate;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The kinds whose jobs one session leaves out. Used by the session's thread only; holds no reference to the session. */
final class Suppressions {
    /** One of them, as long as it is open. */
    static final class Open {
        private final Set<String> kinds;
        private long count;

        private Open(Set<String> kinds) {
            this.kinds = kinds;
        }

        long count() {
            return count;
        }
    }

    private final List<Open> open = new ArrayList<>();

    Open begin(Set<String> kinds) {
        Open begun = new Open(kinds);
        open.add(begun);
        return begun;
    }

    /** Ends one of them, in whatever order. */
    boolean end(Open ended) {
        return open.removeIf(each -> each == ended);
    }

    boolean covers(String kind) {
        return open.stream().anyMatch(each -> each.kinds.contains(kind));
    }

    /** Whether a job is to be made; if not, it counts as left out by the suppression that began last. */
    boolean wants(String kind) {
        for (int i = open.size() - 1; i >= 0; i--) {
            if (open.get(i).kinds.contains(kind)) {
                open.get(i).count++;
                return false;
            }
        }
        return true;
    }
}
