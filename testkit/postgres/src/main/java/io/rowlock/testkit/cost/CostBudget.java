package io.rowlock.testkit.cost;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file of what scenes may cost, one line for each scene and count:
 *
 * <pre>
 * claim: jobs = 200
 * claim: round trips = 1
 * claim: rowlock:claim, calls = 1
 * </pre>
 *
 * <p>Round trips, statements and updates are to be met exactly; bytes and pages to {@value #MARGIN_PERCENT} in a hundred, and at
 * least 128 bytes or 2 pages. Who
 * spends less than that must lower the budget, so that the next one who spends more is noticed. The system property {@code
 * costs.write=true} writes the file instead; what is within the margin keeps its line. Not safe for use by several threads.
 */
public final class CostBudget {
    /** How far bytes and pages may be from the budget, in a hundred of it. */
    public static final int MARGIN_PERCENT = 3;

    private static final long LEAST_BYTES = 128;
    private static final long LEAST_PAGES = 2;
    private static final String WRITE = "costs.write";
    private static final Pattern LINE = Pattern.compile("([^:#]+): (.+) = (\\d+)");

    private final Path file;
    private final String head;
    private final Map<String, Map<String, Long>> scenes = new TreeMap<>();

    private CostBudget(Path file) throws IOException {
        this.file = file;
        StringBuilder comments = new StringBuilder();
        for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
            Matcher count = LINE.matcher(line);
            if (count.matches()) {
                scenes.computeIfAbsent(count.group(1), scene -> new LinkedHashMap<>())
                        .put(count.group(2), Long.valueOf(count.group(3)));
            } else if (line.startsWith("#")) {
                comments.append(line).append('\n');
            } else if (!line.isBlank()) {
                throw new IllegalArgumentException(file + " has a line that is no count: " + line);
            }
        }
        this.head = comments.toString();
    }

    /**
     * Reads a budget.
     *
     * @param file the file; one that does not exist is a budget of nothing
     * @return the budget
     * @throws UncheckedIOException if it cannot be read
     * @throws IllegalArgumentException if a line is neither a count nor a comment
     */
    public static CostBudget of(Path file) {
        try {
            return new CostBudget(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The scenes of the budget.
     *
     * @return by scene, sorted, its counts by name, in the order of the file; the number of units first, by their name
     */
    public Map<String, Map<String, Long>> scenes() {
        Map<String, Map<String, Long>> copy = new LinkedHashMap<>();
        scenes.forEach((scene, counts) -> copy.put(scene, new LinkedHashMap<>(counts)));
        return copy;
    }

    /**
     * Compares all scenes of this budget with what they cost; or, told to, writes them into the file.
     *
     * @param found what all of its scenes cost
     * @throws AssertionError if one costs more or less, is missing or unknown; the message says where
     * @throws UncheckedIOException if the file cannot be written
     */
    public void check(Collection<Cost> found) {
        Map<String, Map<String, Long>> costs = new TreeMap<>();
        found.forEach(cost -> costs.put(cost.scene(), lines(cost)));
        if (Boolean.getBoolean(WRITE)) {
            write(costs);
            return;
        }
        List<String> wrong = new ArrayList<>();
        Set<String> all = new LinkedHashSet<>(scenes.keySet());
        all.addAll(costs.keySet());
        for (String scene : all) {
            compare(scene, costs.get(scene), wrong);
        }
        if (!wrong.isEmpty()) {
            throw new AssertionError("Costs are not those of " + file.toAbsolutePath() + "\n" + String.join("\n", wrong)
                    + "\nIf it must be so, run with -D" + WRITE + "=true, and say why in the commit.");
        }
    }

    private static Map<String, Long> lines(Cost cost) {
        Map<String, Long> lines = new LinkedHashMap<>();
        lines.put(cost.unit(), cost.units());
        lines.putAll(cost.counts());
        return lines;
    }

    private void compare(String scene, @Nullable Map<String, Long> found, List<String> wrong) {
        Map<String, Long> expected = scenes.get(scene);
        if (expected == null || found == null) {
            wrong.add(
                    scene + (expected == null ? " has no budget." : " is in the budget, but there is no such scene."));
            return;
        }
        Set<String> names = new LinkedHashSet<>(expected.keySet());
        names.addAll(found.keySet());
        List<String> more = new ArrayList<>();
        List<String> less = new ArrayList<>();
        for (String name : names) {
            long budget = expected.getOrDefault(name, 0L);
            long spent = found.getOrDefault(name, 0L);
            if (!within(name, budget, spent)) {
                (spent > budget ? more : less).add("  " + name + ": budget " + budget + ", spent " + spent);
            }
        }
        if (!more.isEmpty()) {
            wrong.add(scene + " spends more than its budget:");
            wrong.addAll(more);
        }
        if (!less.isEmpty()) {
            wrong.add(scene + " spends less than its budget; lower it, so that it stays tight:");
            wrong.addAll(less);
        }
    }

    private static boolean within(String name, long budget, long spent) {
        return budget == spent || Math.abs(spent - budget) <= margin(name, budget);
    }

    private static long margin(String name, long budget) {
        if (name.endsWith(Cost.WAL)) {
            return Math.max(LEAST_BYTES, budget * MARGIN_PERCENT / 100);
        }
        return name.endsWith(Cost.BUFFERS) ? Math.max(LEAST_PAGES, budget * MARGIN_PERCENT / 100) : 0;
    }

    private void write(Map<String, Map<String, Long>> costs) {
        StringBuilder text = new StringBuilder(head);
        costs.forEach((scene, counts) -> {
            Map<String, Long> before = scenes.getOrDefault(scene, Map.of());
            text.append('\n');
            counts.forEach((name, spent) -> {
                long budget = Objects.requireNonNullElse(before.get(name), -1L);
                text.append(scene).append(": ").append(name).append(" = ");
                text.append(within(name, budget, spent) ? budget : spent).append('\n');
            });
        });
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
