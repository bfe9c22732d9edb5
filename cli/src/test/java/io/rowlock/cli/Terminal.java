package io.rowlock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.rowlock.testkit.postgres.TestSchema;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** Runs commands in this process, as a terminal would. */
final class Terminal {
    private final TestSchema schema;
    private final Map<String, String> environment = new HashMap<>();
    private String out = "";
    private String err = "";

    Terminal(TestSchema schema) {
        this.schema = schema;
        environment.put("ROWLOCK_PASSWORD", schema.password());
    }

    Terminal variable(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** With the place of the schema behind it. */
    int run(String... args) {
        List<String> all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--url", schema.server().url(), "--user", schema.user(), "--schema", schema.name()));
        return bare(all.toArray(String[]::new));
    }

    int bare(String... args) {
        StringWriter said = new StringWriter();
        StringWriter complained = new StringWriter();
        CommandLine line = RowlockCommand.line(new Surroundings(environment, "tester", () -> "typed"));
        int code = line.setOut(new PrintWriter(said, true))
                .setErr(new PrintWriter(complained, true))
                .setUsageHelpAutoWidth(false)
                .execute(args);
        out = said.toString();
        err = complained.toString();
        return code;
    }

    String out() {
        return out;
    }

    String err() {
        return err;
    }

    JsonNode json() throws Exception {
        return new ObjectMapper().readTree(out);
    }
}
