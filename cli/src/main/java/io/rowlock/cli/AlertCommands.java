package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertFilter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Alerts. */
@Command(
        name = "alerts",
        mixinStandardHelpOptions = true,
        description = "Lists alerts that nobody has taken over, and takes them over.",
        subcommands = {AlertCommands.All.class, AlertCommands.Acknowledge.class})
final class AlertCommands extends Group {

    /** From the newest back. */
    @Command(name = "list", description = "Lists open alerts, the newest first. Ends with 1 if there are some.")
    static final class All extends Action {
        private static final int PAGE = 500;

        @Option(names = "--kind", paramLabel = "KIND", description = "Only those of this kind of job, or saga.")
        private @Nullable String kind;

        @Override
        int run(Rowlock rowlock, Printer out) {
            AlertFilter filter =
                    kind == null ? AlertFilter.all() : AlertFilter.all().kind(kind);
            List<List<@Nullable Object>> rows = new ArrayList<>();
            Long after = null;
            List<Alert> page;
            do {
                page = rowlock.alerts().open(filter, after, PAGE);
                page.forEach(each -> rows.add(Arrays.asList(
                        each.id(),
                        each.cause(),
                        each.kind(),
                        each.count(),
                        each.span().last(),
                        each.job(),
                        each.reason())));
                after = page.isEmpty() ? null : page.get(page.size() - 1).id();
            } while (page.size() == PAGE);
            out.list(List.of("id", "cause", "kind", "count", "lastAt", "job", "reason"), rows);
            return rows.isEmpty() ? ExitCode.FINE : ExitCode.REFUSED;
        }
    }

    /** They are somebody's now. */
    @Command(name = "ack", description = "Takes alerts over: they are open no more.")
    static final class Acknowledge extends Change {
        @Parameters(paramLabel = "ID", arity = "1..*", description = "The alerts.")
        private List<Long> ids = List.of();

        @Override
        int run(Rowlock rowlock, Printer out) {
            return Each.of(
                    out,
                    "id",
                    ids,
                    id -> Each.Answer.of(rowlock.alerts().acknowledge(id, by()), "not open, or not there"));
        }
    }
}
