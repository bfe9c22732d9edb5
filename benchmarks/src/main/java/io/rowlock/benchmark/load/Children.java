package io.rowlock.benchmark.load;

import io.rowlock.Rowlock;
import io.rowlock.benchmark.run.Trial;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.util.stream.Stream;

/** Other processes beside the one that measures. */
final class Children {
    private Children() {}

    /** Starts one that finds the trial's schema by its first argument. */
    static ChildJvm start(Trial trial, Class<?> main, String... arguments) {
        return trial.closing(ChildJvm.start(
                main,
                jvm -> jvm.sharing(trial.schema().server())
                        .jvmArguments("-Xmx256m")
                        .property("org.slf4j.simpleLogger.defaultLogLevel", "error")
                        .arguments(Stream.concat(Stream.of(trial.schema().name()), Stream.of(arguments))
                                .toArray(String[]::new))));
    }

    /** The trial's schema, in such a process. */
    static TestSchema schema(String[] arguments) {
        return TestSchema.existing(TestPostgres.shared(), arguments[0]);
    }

    /** A Rowlock in such a process; its engine keeps few connections, and long, so that it needs no pool. */
    static Rowlock rowlock(TestSchema schema, boolean notifications) {
        return Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .notifications(notifications)
                .build();
    }
}
