package io.rowlock.benchmark.load;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Figure;
import io.rowlock.benchmark.run.Reach;
import io.rowlock.benchmark.run.Trial;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** What an annotation adds to the time of a transaction, measured by JMH in a JVM of its own. */
public final class Entities {
    private static final Duration WARM_UP = Duration.ofSeconds(15);
    private static final Duration MEASURED = Duration.ofSeconds(10);
    private static final String ANNOTATED = "annotated";
    private static final String PLAIN = "not annotated";

    private Entities() {}

    /** One entity in a transaction. */
    public static Figure single() {
        return figure(
                "entity",
                "A transaction that saves one entity with Hibernate, annotated and not",
                1,
                1.35,
                "The commit's wait for the disk is in both. The annotation adds one round trip, the insert of the job, at the end"
                        + " of the flush.");
    }

    /** A hundred of them in one flush. */
    public static Figure flush() {
        return figure(
                "entity-flush",
                "A transaction that saves 100 entities with Hibernate in one flush, annotated and not",
                100,
                1.2,
                "The annotation adds one statement that inserts a hundred jobs, and a hundred payloads of JSON.");
    }

    private static Figure figure(String id, String title, int entities, double reach, String limitedBy) {
        return new Figure(
                        id,
                        title,
                        "µs",
                        List.of(contender(ANNOTATED, true, entities), contender(PLAIN, false, entities)),
                        List.of(Reach.atMost(reach, ANNOTATED, PLAIN)),
                        limitedBy)
                .withoutWarmUp();
    }

    private static Contender contender(String name, boolean annotated, int entities) {
        return new Contender(
                name,
                "JMH, average time, one fork and thread, " + WARM_UP.toSeconds() + " s of warm-up, "
                        + MEASURED.toSeconds() + " s measured; jdbc batches of 50, sequence ids",
                trial -> {
                    Backlog.empty(trial);
                    trial.settle();
                    return micros(trial, annotated, entities);
                });
    }

    private static double micros(Trial trial, boolean annotated, int entities) throws RunnerException {
        return new Runner(new OptionsBuilder()
                        .include('^' + NoteBenchmark.class.getName() + ".save$")
                        .param("url", trial.schema().url())
                        .param("user", trial.schema().user())
                        .param("schema", trial.schema().name())
                        .param("annotated", String.valueOf(annotated))
                        .param("entities", String.valueOf(entities))
                        .mode(Mode.AverageTime)
                        .timeUnit(TimeUnit.MICROSECONDS)
                        .forks(1)
                        .warmupIterations(1)
                        .warmupTime(millis(trial.lasting(WARM_UP)))
                        .measurementIterations(1)
                        .measurementTime(millis(trial.lasting(MEASURED)))
                        .jvmArgsAppend(
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                                "-Dorg.jboss.logging.provider=slf4j",
                                "-Djmh.ignoreLock=true")
                        .shouldFailOnError(true)
                        .verbosity(VerboseMode.SILENT)
                        .build())
                .runSingle()
                .getPrimaryResult()
                .getScore();
    }

    private static TimeValue millis(Duration time) {
        return TimeValue.milliseconds(time.toMillis());
    }
}
