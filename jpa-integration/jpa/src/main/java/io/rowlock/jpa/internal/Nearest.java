package io.rowlock.jpa.internal;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the known name that somebody who misspelt one probably meant. */
final class Nearest {
    private Nearest() {}

    /** The known name with the fewest edits, at most a third of the longer name's characters and at least two allowed. */
    static Optional<String> to(String name, Collection<String> known) {
        return known.stream()
                .filter(each -> edits(name, each) < name.length()) // else nothing of it is left
                .filter(each -> edits(name, each) <= Math.max(2, Math.max(name.length(), each.length()) / 3))
                .min(Comparator.<String>comparingInt(each -> edits(name, each)).thenComparing(each -> each));
    }

    /** Levenshtein's distance, without regard to case. */
    private static int edits(String a, String b) {
        int[] previous = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int[] current = new int[b.length() + 1];
            current[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                boolean same = Character.toLowerCase(a.charAt(i - 1)) == Character.toLowerCase(b.charAt(j - 1));
                int replaced = previous[j - 1] + (same ? 0 : 1);
                current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
            }
            previous = current;
        }
        return previous[b.length()];
    }
}
