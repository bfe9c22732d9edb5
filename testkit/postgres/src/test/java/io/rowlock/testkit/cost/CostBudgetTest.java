package io.rowlock.testkit.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CostBudgetTest {
    private static final String BUDGET = """
            # what it costs
            claim: jobs = 200
            claim: round trips = 1
            claim: statements = 1
            claim: WAL bytes = 10000
            claim: rowlock:claim, calls = 1
            claim: rowlock:claim, buffers = 700
            """;

    private final Path file;

    CostBudgetTest(@TempDir Path folder) throws Exception {
        file = folder.resolve("costs.txt");
        Files.writeString(file, BUDGET);
    }

    @AfterEach
    void noMore() {
        System.clearProperty("costs.write");
    }

    private static Cost claim(long roundTrips, long wal, long buffers) {
        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put(Cost.ROUND_TRIPS, roundTrips);
        counts.put(Cost.STATEMENTS, 1L);
        counts.put(Cost.WAL, wal);
        counts.put("rowlock:claim, calls", 1L);
        counts.put("rowlock:claim, buffers", buffers);
        return new Cost("claim", 200, "jobs", counts);
    }

    private void check(Cost... found) {
        CostBudget.of(file).check(List.of(found));
    }

    @Test
    void what_is_spent_as_planned_passes_bytes_and_pages_within_their_margin() {
        assertThatCode(() -> check(claim(1, 10_000, 700))).doesNotThrowAnyException();
        assertThatCode(() -> check(claim(1, 10_300, 721))).doesNotThrowAnyException();
        assertThatCode(() -> check(claim(1, 9_700, 679))).doesNotThrowAnyException();
    }

    @Test
    void who_spends_more_is_told_where_and_how_much() {
        assertThatThrownBy(() -> check(claim(2, 10_301, 722)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("claim spends more than its budget")
                .hasMessageContaining("round trips: budget 1, spent 2\n")
                .hasMessageContaining("WAL bytes: budget 10000, spent 10301\n")
                .hasMessageContaining("rowlock:claim, buffers: budget 700, spent 722\n")
                .hasMessageNotContaining("statements")
                .hasMessageNotContaining("less");
    }

    @Test
    void who_spends_less_is_asked_to_lower_the_budget() {
        assertThatThrownBy(() -> check(claim(1, 9_699, 700)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("claim spends less than its budget; lower it")
                .hasMessageContaining("WAL bytes: budget 10000, spent 9699\n")
                .hasMessageContaining("-Dcosts.write=true");
    }

    @Test
    void statement_that_is_new_and_one_that_is_gone_are_named() {
        Cost other = new Cost("claim", 200, "jobs", Map.of("rowlock:other, calls", 1L));
        assertThatThrownBy(() -> check(other))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("rowlock:other, calls: budget 0, spent 1\n")
                .hasMessageContaining("rowlock:claim, calls: budget 1, spent 0\n");
    }

    @Test
    void scene_without_a_budget_and_budget_without_a_scene_are_wrong() {
        assertThatThrownBy(() -> check(new Cost("other", 1, "jobs", Map.of())))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("other has no budget")
                .hasMessageContaining("claim is in the budget, but there is no such scene");
    }

    @Test
    void written_anew_it_keeps_its_head_and_the_lines_that_are_within_the_margin() throws Exception {
        System.setProperty("costs.write", "true");
        check(claim(2, 10_100, 800), new Cost("another", 1, "jobs", Map.of(Cost.ROUND_TRIPS, 3L)));
        assertThat(file).hasContent("""
                # what it costs

                another: jobs = 1
                another: round trips = 3

                claim: jobs = 200
                claim: round trips = 2
                claim: statements = 1
                claim: WAL bytes = 10000
                claim: rowlock:claim, calls = 1
                claim: rowlock:claim, buffers = 800
                """);
        System.clearProperty("costs.write");
        assertThatThrownBy(() -> check(claim(1, 10_100, 800))).hasMessageContaining("round trips: budget 2, spent 1");
    }

    @Test
    void line_that_is_no_count_is_refused() throws Exception {
        Files.writeString(file, BUDGET + "claim: round trips = some\n");
        assertThatThrownBy(() -> CostBudget.of(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("round trips = some");
    }

    @Test
    void further_units_are_what_the_larger_scene_has_more() {
        Cost few = new Cost(
                "few", 1, "sagas", Map.of(Cost.ROUND_TRIPS, 10L, "a, calls", 5L, "b, calls", 1L, "b, WAL", 9L));
        Cost many = new Cost(
                "many", 1, "sagas", Map.of(Cost.ROUND_TRIPS, 18L, "a, calls", 7L, "b, calls", 1L, "b, WAL", 8L));
        assertThat(many.beyond(few, "step", 2, "steps"))
                .isEqualTo(new Cost("step", 2, "steps", Map.of(Cost.ROUND_TRIPS, 8L, "a, calls", 2L)));
    }
}
