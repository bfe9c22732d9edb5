package io.rowlock.saga;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Writes a timeline as a table of plain text. For one thread and one text. */
final class TimelineText {
    private static final int LONGEST = 160;

    private final SagaTimeline timeline;
    private final StringBuilder text = new StringBuilder();

    TimelineText(SagaTimeline timeline) {
        this.timeline = timeline;
    }

    String write() {
        head();
        List<List<String>> steps = new ArrayList<>();
        steps.add(List.of("step", "status", "tries", "undone", "started", "finished", "error"));
        boolean over = timeline.saga().status().finished();
        timeline.steps().forEach(step -> steps.add(row(step, over)));
        table(steps);
        if (!timeline.signals().isEmpty()) {
            List<List<String>> signals = new ArrayList<>();
            signals.add(List.of("signal", "received", "moved"));
            timeline.signals()
                    .forEach(each ->
                            signals.add(List.of(plain(each.name()), at(each.received()), plain(each.consumedBy()))));
            table(signals);
        }
        if (!timeline.operations().isEmpty()) {
            List<List<String>> operations = new ArrayList<>();
            operations.add(List.of("operation", "step", "at", "by", "why"));
            timeline.operations()
                    .forEach(each -> operations.add(List.of(
                            plain(each.what()),
                            plain(each.step()),
                            at(each.at()),
                            plain(each.who()),
                            plain(each.why()))));
            table(operations);
        }
        return text.toString();
    }

    private void head() {
        SagaView saga = timeline.saga();
        line("saga " + plain(saga.id()) + " (" + plain(saga.definition().name()) + " v"
                + saga.definition().version() + "): " + word(saga.status()));
        if (saga.keys().businessKey() != null) {
            line("key " + plain(saga.keys().businessKey()));
        }
        if (saga.course().reason() != null) {
            line("because " + plain(saga.course().reason()));
        }
        SagaView.Driver driver = saga.driver();
        if (driver != null) {
            line("driven by job " + driver.job() + ", due " + at(driver.due())
                    + (driver.worker() == null ? "" : ", runs at " + plain(driver.worker())));
        }
    }

    /** What a finished saga waited for, or was to try again, it has given up. */
    private static List<String> row(SagaTimeline.Step step, boolean over) {
        boolean open = step.status() == StepStatus.WAITING || step.status() == StepStatus.RETRYING;
        return List.of(
                plain(step.name()) + (step.branch().isEmpty() ? "" : " / " + plain(step.branch())),
                over && open
                        ? step.branch().isEmpty() ? "given up" : "-"
                        : word(step.status()) + (step.dueAt() == null ? "" : " until " + at(step.dueAt())),
                String.valueOf(step.attempts()),
                String.valueOf(step.compensations()),
                at(step.times().started()),
                at(step.times().finished()),
                plain(step.error()));
    }

    /** Columns as wide as their widest text, the last one as it comes. */
    private void table(List<List<String>> rows) {
        text.append('\n');
        int columns = rows.get(0).size();
        List<Integer> widths = new ArrayList<>(Collections.nCopies(columns, 0));
        for (List<String> row : rows) {
            for (int i = 0; i < columns - 1; i++) {
                widths.set(i, Math.max(widths.get(i), row.get(i).length()));
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                String cell = row.get(i);
                line.append(cell).append(" ".repeat(Math.max(0, widths.get(i) - cell.length()) + 2));
            }
            line(line.toString().stripTrailing());
        }
    }

    private void line(String line) {
        text.append(line).append('\n');
    }

    private static String word(Enum<?> status) {
        return status.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static String at(@Nullable Instant at) {
        return at == null ? "-" : at.truncatedTo(ChronoUnit.MILLIS).toString();
    }

    /** One line, without what could move the cursor of a terminal. */
    private static String plain(@Nullable String given) {
        if (given == null) {
            return "-";
        }
        StringBuilder plain = new StringBuilder();
        given.codePoints()
                .limit(LONGEST)
                .forEach(point -> plain.appendCodePoint(
                        Character.isISOControl(point) || Character.getType(point) == Character.FORMAT ? ' ' : point));
        return plain.toString();
    }
}
