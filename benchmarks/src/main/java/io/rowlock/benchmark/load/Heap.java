package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.testkit.postgres.ChildJvm;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A session that saves very many annotated entities in one transaction. */
public final class Heap {
    private static final int ENTITIES = 1_000_000;
    private static final double MIB = 1 << 20;
    private static final Pattern USED = Pattern.compile("used=(\\d+)");

    private Heap() {}

    /** Whether the heap in use grows with them. */
    public static Figure flat() {
        return new Figure(
                        "heap",
                        "Heap of a session that saves 1,000,000 annotated entities with flush and clear every 50",
                        "MiB in use at the end",
                        List.of(new Contender(
                                "annotated",
                                "one transaction, a JVM of its own with -Xmx256m; in use after a collection",
                                Heap::used)),
                        List.of(Reach.atMost(1.1, "annotated growth")),
                        "Nothing outlives its flush, so what is in use is Hibernate itself. 'growth' is what was in use at most in"
                                + " the last quarter of the entities, over what was at most in the second.")
                .withoutWarmUp();
    }

    private static double used(Trial trial) throws Exception {
        Backlog.empty(trial);
        int entities = trial.scaled(ENTITIES);
        try (ChildJvm child = Children.start(trial, SavingMain.class, String.valueOf(entities))) {
            int code = child.awaitExit(Duration.ofMinutes(20));
            List<Double> used = child.lines().stream()
                    .map(USED::matcher)
                    .filter(Matcher::matches)
                    .map(line -> Double.parseDouble(line.group(1)) / MIB)
                    .toList();
            if (code != 0 || used.size() != SavingMain.REPORTS) {
                throw new IllegalStateException("The process ended with " + code + ": " + child.lines());
            }
            long jobs = trial.schema().count("SELECT count(*) FROM rowlock_job");
            if (jobs < entities) {
                throw new IllegalStateException(entities + " entities were saved with " + jobs + " jobs");
            }
            trial.also("growth", Math.max(used.get(6), used.get(7)) / Math.max(used.get(2), used.get(3)));
            return used.get(SavingMain.REPORTS - 1);
        }
    }
}
