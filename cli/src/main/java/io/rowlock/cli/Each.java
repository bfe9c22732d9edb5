package io.rowlock.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Does one thing to each of several, one transaction each, and says for each what became of it. */
final class Each {
    private Each() {}

    /** What became of one: a word, and whether it was done. */
    record Answer(String word, boolean done) {
        static Answer of(boolean done, String otherwise) {
            return new Answer(done ? "done" : otherwise, done);
        }
    }

    /** What fails stops those behind it, which is said by the exception; what was done before stays done and is printed. */
    static <T> int of(Printer out, String column, Collection<T> all, Function<T, Answer> operation) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        boolean allDone = true;
        try {
            for (T each : all) {
                Answer answer = operation.apply(each);
                allDone &= answer.done();
                rows.add(Arrays.asList(each, answer.word()));
            }
        } finally {
            out.list(List.of(column, "answer"), rows);
        }
        return allDone ? ExitCode.FINE : ExitCode.REFUSED;
    }
}
