package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The table of {@code guide/providers.md} says what the runs of the conformance suite found. After a change, {@code
 * -Dguide.write=true} writes it anew.
 */
final class SupportTableIT {
    private static final Path DOCS = Path.of("").toAbsolutePath();
    private static final Path PAGE = DOCS.resolve("guide/providers.md");
    private static final Path RUNS = DOCS.resolveSibling("jpa-integration/hibernate-versions");
    private static final String BEGIN = "<!-- written by SupportTableIT -->\n";
    private static final String DIFFERS = "differs: ";
    private static final String END = "<!-- end -->";
    private static final String HOW = "; run `mvn -pl docs -am verify` in the root folder, without a filter for tests";

    /** A column: a provider's version, and its results by part and row. */
    private record Run(String provider, String version, Map<String, String> results) {}

    @Test
    void table_says_what_the_runs_found() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        String renewed = page.substring(0, begin) + table(runs()) + page.substring(page.indexOf(END, begin));
        if (Boolean.getBoolean("guide.write")) {
            Files.writeString(PAGE, renewed);
        } else {
            assertThat(page)
                    .as("%s is not what the runs found; run with -Dguide.write=true, all versions", PAGE)
                    .isEqualTo(renewed);
        }
    }

    private static List<Run> runs() throws IOException {
        List<Run> runs = new ArrayList<>();
        try (Stream<Path> modules = Files.list(RUNS)) {
            for (Path module : modules.filter(each -> Files.exists(each.resolve("pom.xml")))
                    .sorted()
                    .toList()) {
                Path results = module.resolve("target/provider-conformance.tsv");
                assertThat(results)
                        .as("The results of the conformance suite are not there" + HOW)
                        .exists();
                runs.add(run(Files.readAllLines(results)));
            }
        }
        assertThat(runs).as("No version is run" + HOW).isNotEmpty();
        return runs;
    }

    private static Run run(List<String> lines) {
        String[] provider = lines.get(0).split("\t", -1);
        Map<String, String> results = new LinkedHashMap<>();
        for (String line : lines.subList(1, lines.size())) {
            int result = line.lastIndexOf('\t');
            results.put(line.substring(0, result), line.substring(result + 1));
        }
        assertThat(results)
                .as("Failed corners of %s %s%s", provider[0], provider[1], HOW)
                .doesNotContainValue("no");
        return new Run(provider[0], provider[1].replace(".Final", ""), results);
    }

    private static String table(List<Run> runs) {
        StringBuilder text = new StringBuilder("| |");
        String provider = "";
        for (Run run : runs) {
            text.append(run.provider().equals(provider) ? " " : " " + run.provider() + " ");
            text.append(run.version()).append(" |");
            provider = run.provider();
        }
        text.append("\n|---|").append("---|".repeat(runs.size())).append('\n');
        String part = "";
        List<String> reasons = new ArrayList<>();
        for (String row : rows(runs)) {
            String[] words = row.split("\t", -1);
            if (!words[0].equals(part)) {
                text.append("| **" + words[0] + "** |" + " |".repeat(runs.size()) + "\n");
                part = words[0];
            }
            text.append("| ").append(words[1]).append(" |");
            runs.forEach(run -> text.append(" " + cell(run.results().getOrDefault(row, "–"), reasons) + " |"));
            text.append('\n');
        }
        for (String reason : reasons) {
            text.append('\n')
                    .append(mark(reason, reasons))
                    .append(' ')
                    .append(reason)
                    .append('\n');
        }
        return text.toString();
    }

    /** Why a version differs stands below the table. */
    private static String cell(String result, List<String> reasons) {
        if (!result.startsWith(DIFFERS)) {
            return result;
        }
        String reason = result.substring(DIFFERS.length());
        if (!reasons.contains(reason)) {
            reasons.add(reason);
        }
        return "no " + mark(reason, reasons);
    }

    private static String mark(String reason, List<String> reasons) {
        return "<sup>" + (reasons.indexOf(reason) + 1) + "</sup>";
    }

    /** Of all runs, by part and row. */
    private static List<String> rows(List<Run> runs) {
        Map<String, String> rows = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        runs.forEach(run -> rows.putAll(run.results()));
        return List.copyOf(rows.keySet());
    }
}
