package io.rowlock.examples.orders.demo;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import io.rowlock.examples.orders.demo.DemoRows.AlertRow;
import io.rowlock.examples.orders.demo.DemoRows.DeadJob;
import io.rowlock.examples.orders.demo.DemoRows.JobCount;
import io.rowlock.examples.orders.demo.Mailbox.Received;
import io.rowlock.examples.orders.partner.PartnerBooks;
import java.io.PrintStream;
import java.sql.SQLException;
import java.util.List;
import java.util.TreeMap;

/** Prints how it went: the figures, all read from the rows, the mails and the partner's books, and the checks. */
final class DemoReport {
    private static final int SHOWN = 10;

    private final PrintStream out;
    private final DemoRows rows;

    DemoReport(PrintStream out, DemoRows rows) {
        this.out = out;
        this.rows = rows;
    }

    void figures(Received received, PartnerBooks partner) throws SQLException {
        out.println();
        orders();
        jobs();
        deadJobs();
        alerts();
        section("Mails", received.mails() + " received, with " + received.keys() + " different idempotency keys");
        section(
                "Partner",
                partner.calls() + " calls, "
                        + partner.effects().values().stream()
                                .mapToInt(Integer::intValue)
                                .sum() + " deliveries; "
                        + partner.repeats() + " of the calls repeated a key that was served before");
    }

    /** Prints the checks; answers whether all passed. */
    boolean checks(List<Check> checks) {
        out.println();
        for (Check check : checks) {
            out.println((check.passed() ? "  ✓ " : "  ✗ ") + check.promise());
            limited(check.violations()).forEach(violation -> out.println("      " + violation));
        }
        out.println();
        long passed = checks.stream().filter(Check::passed).count();
        out.println(
                passed == checks.size()
                        ? "All " + passed + " checks passed."
                        : (checks.size() - passed) + " of " + checks.size() + " checks FAILED.");
        return passed == checks.size();
    }

    private void orders() throws SQLException {
        var refused = rows.refused();
        long rolledBack = refused.values().stream().mapToLong(Long::longValue).sum();
        section("Orders", rows.orderNumbers().size() + " committed, " + rolledBack + " rolled back");
        refused.forEach((rule, times) -> section("", times + " × " + rule.words()));
    }

    private void jobs() throws SQLException {
        List<JobCount> counts = rows.jobs();
        String title = "Jobs";
        for (var kind : counts.stream()
                .collect(groupingBy(JobCount::kind, TreeMap::new, joinedStates()))
                .entrySet()) {
            section(title, kind.getKey() + ": " + kind.getValue());
            title = "";
        }
        long retried = counts.stream().mapToLong(JobCount::retried).sum();
        long jobs = counts.stream().mapToLong(JobCount::jobs).sum();
        long attempts = counts.stream().mapToLong(JobCount::attempts).sum();
        section("Retried", retried + " jobs; " + jobs + " jobs took " + attempts + " attempts");
    }

    private static java.util.stream.Collector<JobCount, ?, String> joinedStates() {
        return java.util.stream.Collectors.mapping(count -> count.jobs() + " " + count.state(), joining(", "));
    }

    private void deadJobs() throws SQLException {
        List<DeadJob> dead = rows.deadJobs();
        section("Dead", dead.size() + (dead.size() == 1 ? " job" : " jobs"));
        limited(dead.stream()
                        .map(job -> job.kind() + " of order " + job.order() + " after " + job.attempts() + " attempt"
                                + (job.attempts() == 1 ? "" : "s") + ": " + job.reason())
                        .toList())
                .forEach(line -> section("", line));
    }

    private void alerts() throws SQLException {
        List<AlertRow> alerts = rows.alerts();
        section("Alerts", alerts.size() + (alerts.size() == 1 ? " row" : " rows"));
        limited(alerts.stream()
                        .map(alert ->
                                alert.cause() + ", " + alert.kind() + ", " + alert.times() + " ×: " + alert.reason())
                        .toList())
                .forEach(line -> section("", line));
    }

    private void section(String title, String text) {
        out.println("%-8s %s%s".formatted(title, title.isEmpty() ? "  " : "", text));
    }

    private static List<String> limited(List<String> lines) {
        if (lines.size() <= SHOWN) {
            return lines;
        }
        return java.util.stream.Stream.concat(
                        lines.stream().limit(SHOWN),
                        java.util.stream.Stream.of("… and " + (lines.size() - SHOWN) + " more"))
                .toList();
    }
}
