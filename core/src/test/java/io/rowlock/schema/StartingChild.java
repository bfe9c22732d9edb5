package io.rowlock.schema;

import io.rowlock.Rowlock;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobKind;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.worker.Worker;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * An instance of an application that installs the tables when it starts, in a JVM of its own. For each line, the name of a
 * schema, it starts, says {@code ready}, the schema and which instance it is, and stops again.
 */
final class StartingChild {
    private StartingChild() {}

    public static void main(String[] arguments) throws Exception {
        PGSimpleDataSource source = TestPostgres.shared().dataSource();
        source.setApplicationName(arguments[0]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("waiting");
        for (String schema = lines.readLine(); schema != null; schema = lines.readLine()) {
            start(source, schema);
            System.out.println("ready " + schema + ' ' + arguments[0]);
        }
    }

    private static void start(PGSimpleDataSource source, String schema) {
        Rowlock rowlock = Rowlock.builder().dataSource(source).schema(schema).build();
        rowlock.schema().install();
        rowlock.schema().validate();
        try (Worker worker = rowlock.worker(w -> w.handle(JobKind.named("mail", String.class), (mail, job) -> {}))) {
            worker.start();
            TestRowlock.soon().until(() -> worker.health().up());
        }
    }
}
