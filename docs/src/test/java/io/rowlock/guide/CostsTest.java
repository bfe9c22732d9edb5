package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.testkit.cost.Cost;
import io.rowlock.testkit.cost.CostBudget;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The tables of {@code guide/costs.md} are the budgets that the build keeps to. After a change of one, {@code
 * -Dguide.write=true} writes the page anew.
 */
final class CostsTest {
    private static final Path DOCS = Path.of("").toAbsolutePath();
    private static final Path PAGE = DOCS.resolve("guide/costs.md");
    private static final String END = "<!-- end -->";

    private static final String HEAD = """
             | round trips | statements | updates | of them HOT | buffers | WAL bytes |
            |---|---:|---:|---:|---:|---:|---:|
            """;

    private static final Map<String, String> JOBS = texts(
            "enqueue-one", "written alone, in a transaction of its own",
            "enqueue-bulk", "one of 1,000 written by one `enqueueAll`",
            "enqueue-with-dedup-keys", "one of 200 with dedup keys, written together",
            "claim", "one of 200 claimed together",
            "claim-by-a-long-name", "the same, by a worker whose name has 55 characters",
            "complete-and-delete", "one of 200 completed together, and deleted",
            "complete-and-keep", "the same, and kept",
            "retry", "one of 200 that failed together, and wait for their next attempt",
            "dead", "one of 200 that died together; one alert",
            "transactional-handler", "claimed already: its handler's own transaction, with the completion in it",
            "ordering-keys", "one of 200 with 50 ordering keys, claimed, completed and deleted");

    private static final Map<String, String> ENTITIES = texts(
            "insert-one-by-one", "inserted, each in a transaction of its own",
            "insert-hundred-in-one-flush", "one of 100 inserted in one flush",
            "update-one-by-one", "updated, each in a transaction of its own",
            "update-hundred-in-one-flush", "one of 100 updated in one flush");

    private static final Map<String, String> SAGAS = texts(
            "start", "a saga started, in a transaction of its own",
            "start-many", "one of 200 started together",
            "step", "a further step, of a saga that is alone",
            "step-and-its-undo", "a further step and its compensation, likewise");

    @Test
    void tables_are_the_budgets_that_the_build_keeps_to() throws IOException {
        String page = Files.readString(PAGE);
        String renewed = page;
        renewed = renewed(renewed, "<!-- core/costs.txt -->\n", "a job", table("core", JOBS));
        renewed = renewed(
                renewed,
                "<!-- hibernate/costs.txt -->\n",
                "an entity with one job",
                table("jpa-integration/hibernate", ENTITIES));
        renewed = renewed(renewed, "<!-- saga/costs.txt -->\n", "a saga", table("saga", SAGAS));
        if (Boolean.getBoolean("guide.write")) {
            Files.writeString(PAGE, renewed);
        } else {
            assertThat(page).as("run with -Dguide.write=true").isEqualTo(renewed);
        }
    }

    private static String renewed(String page, String begin, String of, String table) {
        int from = page.indexOf(begin) + begin.length();
        assertThat(from).as(begin).isGreaterThanOrEqualTo(begin.length());
        return page.substring(0, from) + "| " + of + table + page.substring(page.indexOf(END, from));
    }

    private static String table(String module, Map<String, String> texts) {
        Map<String, Map<String, Long>> scenes =
                CostBudget.of(DOCS.resolveSibling(module).resolve("costs.txt")).scenes();
        assertThat(texts.keySet()).as("scenes of " + module).containsExactlyInAnyOrderElementsOf(scenes.keySet());
        StringBuilder table = new StringBuilder(HEAD);
        texts.forEach((scene, text) -> {
            Map<String, Long> counts = scenes.get(scene);
            long units = counts.values().iterator().next();
            long updates = counts.get(Cost.UPDATES);
            long hot = updates - counts.get(Cost.COLD_UPDATES);
            table.append("| ").append(text);
            for (String count : new String[] {Cost.ROUND_TRIPS, Cost.STATEMENTS, Cost.UPDATES}) {
                table.append(" | ").append(each(counts.get(count), units));
            }
            table.append(" | ").append(updates == 0 ? "" : hot * 100 / updates + " %");
            table.append(" | ").append(each(counts.get(Cost.BUFFERS), units));
            table.append(" | ").append(each(counts.get(Cost.WAL), units)).append(" |\n");
        });
        return table.toString();
    }

    /** With three digits, or all before the point. */
    private static String each(long count, long units) {
        double each = count / (double) units;
        return each >= 100
                ? String.format(Locale.ROOT, "%,.0f", each)
                : new BigDecimal(each)
                        .round(new MathContext(3))
                        .stripTrailingZeros()
                        .toPlainString();
    }

    private static Map<String, String> texts(String... scenesAndTexts) {
        Map<String, String> texts = new LinkedHashMap<>();
        for (int i = 0; i < scenesAndTexts.length; i += 2) {
            texts.put(scenesAndTexts[i], scenesAndTexts[i + 1]);
        }
        return texts;
    }
}
