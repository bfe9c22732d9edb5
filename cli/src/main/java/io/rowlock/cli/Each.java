package io.rowlock.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Does one thing to each of several, one transaction each, and says for each what became of it. */
final class Each {
    private Each() {}

    /** Whether it was done. */
    enum Fate {
        DONE,
        /** It is there, and not as it would have to be. */
        REFUSED,
        /** It is not there. */
        MISSING
    }

    /** What became of one, and in words. */
    record Answer(String word, Fate fate) {
        static Answer done(String word) {
            return new Answer(word, Fate.DONE);
        }

        static Answer refused(String word) {
            return new Answer(word, Fate.REFUSED);
        }

        static Answer unknown() {
            return new Answer("unknown", Fate.MISSING);
        }
    }

    /**
     * What fails stops those behind it, which is said by the exception; what was done before stays done and is printed. Ends as
     * refused if one was, else as nothing if one is not there.
     */
    static <T> int of(Printer out, String column, Collection<T> all, Function<T, Answer> operation) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        Set<Fate> fates = EnumSet.noneOf(Fate.class);
        try {
            for (T each : all) {
                Answer answer = operation.apply(each);
                fates.add(answer.fate());
                rows.add(Arrays.asList(each, answer.word()));
            }
        } finally {
            if (!rows.isEmpty()) {
                out.list(List.of(column, "answer"), rows);
            }
        }
        if (fates.contains(Fate.REFUSED)) {
            return ExitCode.REFUSED;
        }
        return fates.contains(Fate.MISSING) ? ExitCode.NOTHING : ExitCode.FINE;
    }
}
