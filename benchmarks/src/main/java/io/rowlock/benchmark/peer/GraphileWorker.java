package io.rowlock.benchmark.peer;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Skipped;
import io.rowlock.benchmark.run.Trial;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** graphile-worker, which is a program of Node: fetched with npm when it is first wanted, if there is Node. */
public final class GraphileWorker {
    private static final int JOBS = 50_000;
    private static final String VERSION = "0.18.0";
    private static final Path FOLDER =
            Path.of("benchmarks/target/graphile-worker").toAbsolutePath();

    private static final String ADD = """
            SELECT count(*) FROM %1$s.add_jobs(ARRAY(
              SELECT json_populate_record(NULL::%1$s.job_spec,
                '{"identifier":"noop","payload":{"number":1,"text":"0123456789abcdef"}}')
              FROM generate_series(1, %2$d)))
            """;

    private GraphileWorker() {}

    /** Works a backlog off. */
    public static Contender drain() {
        return new Contender(
                        "graphile-worker",
                        "Node, concurrentJobs 24, localQueue.size 500, completeJobBatchDelay 0: its page on performance, batched",
                        GraphileWorker::jobsPerSecond)
                .promising(
                        "at least once; a dead worker's jobs run again after four hours; no fencing: a worker that was given up"
                                + " and comes back completes a job that another has");
    }

    private static double jobsPerSecond(Trial trial) throws Exception {
        int jobs = trial.scaled(JOBS);
        install();
        String schema = trial.schema().name();
        String url = "postgres://" + trial.schema().user() + ':'
                + trial.schema().password() + '@' + trial.schema().server().host() + ':'
                + trial.schema().server().port() + "/postgres";
        Process node = new ProcessBuilder(
                        "node", script().toString(), FOLDER.toString(), url, schema, String.valueOf(jobs))
                .redirectErrorStream(true)
                .start();
        try (BufferedReader said = node.inputReader();
                BufferedWriter told = node.outputWriter()) {
            try {
                await(said, "ready");
            } catch (IOException e) {
                throw new Skipped("this Node could not run it: " + e.getMessage());
            }
            trial.schema().execute(ADD.formatted(schema, jobs));
            trial.settle();
            long startedAt = System.nanoTime();
            tell(told, "go");
            await(said, "done");
            while (left(trial, schema) > 0) {
                TimeUnit.MILLISECONDS.sleep(2);
            }
            double seconds = (System.nanoTime() - startedAt) / 1e9;
            tell(told, "stop");
            return jobs / seconds;
        } finally {
            if (!node.waitFor(10, TimeUnit.SECONDS)) {
                node.destroyForcibly();
            }
        }
    }

    private static long left(Trial trial, String schema) throws SQLException {
        return trial.ask("SELECT count(*) FROM (SELECT FROM " + schema + "._private_jobs LIMIT 1) one");
    }

    /** Fetches it once. */
    private static synchronized void install() throws Exception {
        if (Files.isDirectory(FOLDER.resolve("node_modules/graphile-worker"))) {
            return;
        }
        Files.createDirectories(FOLDER);
        List<String> said = new ArrayList<>();
        try {
            Process npm = new ProcessBuilder(
                            "npm", "install", "--no-audit", "--no-fund", "--prefix", ".", "graphile-worker@" + VERSION)
                    .directory(FOLDER.toFile())
                    .redirectErrorStream(true)
                    .start();
            try (BufferedReader reader = npm.inputReader()) {
                reader.lines().forEach(said::add);
            }
            if (npm.waitFor() != 0) {
                throw new Skipped("npm could not fetch it: " + String.join(" ", said));
            }
        } catch (IOException e) {
            throw new Skipped("there is no npm on this machine (" + e.getMessage() + ')');
        }
    }

    private static Path script() throws IOException {
        Path script = FOLDER.resolve("graphile.mjs");
        try (InputStream resource = GraphileWorker.class.getResourceAsStream("/graphile.mjs")) {
            if (resource == null) {
                throw new IOException("graphile.mjs is not on the class path");
            }
            Files.copy(resource, script, StandardCopyOption.REPLACE_EXISTING);
        }
        return script;
    }

    private static void await(BufferedReader said, String word) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            lines.add(line);
            if (line.equals(word)) {
                return;
            }
        }
        throw new IOException("graphile-worker ended and had not said " + word + ": " + String.join("\n", lines));
    }

    private static void tell(BufferedWriter told, String line) throws IOException {
        told.write(line);
        told.newLine();
        told.flush();
    }
}
