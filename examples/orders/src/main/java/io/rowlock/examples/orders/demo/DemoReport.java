package io.rowlock.examples.orders.demo;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import io.rowlock.examples.orders.demo.DemoRows.AlertRow;
import io.rowlock.examples.orders.demo.DemoRows.DeadJob;
import io.rowlock.examples.orders.demo.DemoRows.JobCount;
import io.rowlock.examples.orders.demo.DemoRows.StepCount;
import io.rowlock.examples.orders.demo.Mailbox.Received;
import io.rowlock.examples.orders.demo.Person.Deed;
import io.rowlock.examples.orders.outside.BankBooks;
import io.rowlock.examples.orders.outside.BankBooks.Charge;
import io.rowlock.examples.orders.outside.WarehouseBooks;
import io.rowlock.examples.orders.outside.WarehouseBooks.Taken;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaView;
import java.io.PrintStream;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Prints how it went: the figures, all read from the rows, the mails and the books of those outside, and the checks. */
final class DemoReport {
    private static final int SHOWN = 10;

    private final PrintStream out;
    private final DemoRows rows;

    DemoReport(PrintStream out, DemoRows rows) {
        this.out = out;
        this.rows = rows;
    }

    void figures(Received received, World world) throws SQLException {
        out.println();
        orders();
        jobs();
        deadJobs();
        alerts();
        section("Mails", received.mails() + " received, with " + received.keys() + " different idempotency keys");
        BankBooks bank = world.bank().books();
        long refunded = bank.charges().stream().filter(Charge::refunded).count();
        section(
                "Bank",
                bank.calls() + " calls, " + bank.charges().size() + " charges, " + refunded + " of them refunded; "
                        + bank.repeats() + " of the calls repeated a key that was charged before");
        WarehouseBooks warehouse = world.warehouse().books();
        long putBack = warehouse.taken().stream().filter(Taken::putBack).count();
        section(
                "Stock",
                warehouse.taken().size() + " orders had goods taken for them, " + putBack + " had them put back");
        section(
                "Carrier",
                world.carrier().books().calls() + " calls, "
                        + Received.sum(world.carrier().books().deliveries()) + " deliveries");
    }

    /** How the sagas ended, what a person did for some, and how their steps went. */
    void sagas(SagaEnds ends, List<Deed> deeds) throws SQLException {
        String counts = ends.counts().entrySet().stream()
                .map(each -> each.getValue() + " " + each.getKey().name().toLowerCase(Locale.ROOT))
                .collect(joining(", "));
        section("Sagas", counts + "; " + deeds.size() + " of them were stuck, until a person helped");
        limited(deeds.stream().map(Deed::words).toList()).forEach(deed -> section("", deed));
        String title = "Steps";
        for (StepCount step : rows.steps()) {
            section(
                    title,
                    step.step() + ": " + step.sagas() + " sagas, " + step.attempts() + " attempts, " + step.undone()
                            + " undone");
            title = "";
        }
    }

    /** Draws one saga: one that a person helped where there is one, else one that was undone, else any. */
    void oneSaga(SagaOperations sagas, List<Deed> deeds) {
        Stream<String> helped = deeds.stream().map(Deed::saga);
        Stream<String> undone = ids(sagas, SagaQuery.all().status(SagaStatus.COMPENSATED));
        Stream.of(helped, undone, ids(sagas, SagaQuery.all()))
                .flatMap(each -> each)
                .findFirst()
                .flatMap(sagas::timeline)
                .ifPresent(timeline -> {
                    out.println();
                    out.println("One saga, as Mermaid (paste it into https://mermaid.live):");
                    out.println();
                    out.print(timeline.toMermaid().indent(4));
                    out.println();
                    out.println("The same, as text:");
                    out.println();
                    out.print(timeline.toText().indent(4));
                });
    }

    private static Stream<String> ids(SagaOperations sagas, SagaQuery query) {
        return sagas.find(query.pageSize(1)).sagas().stream().map(SagaView::id);
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
        return Stream.concat(lines.stream().limit(SHOWN), Stream.of("… and " + (lines.size() - SHOWN) + " more"))
                .toList();
    }
}
