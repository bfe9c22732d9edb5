package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertCause;
import io.rowlock.alert.AlertFilter;
import io.rowlock.alert.Alerts;
import io.rowlock.error.InvalidUseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Alerts. */
@Command(
        name = "alerts",
        mixinStandardHelpOptions = true,
        description = "Lists alerts, and takes them over.",
        subcommands = {AlertCommands.All.class, AlertCommands.Acknowledge.class})
final class AlertCommands extends Group {

    /** Which alerts, said by options. */
    static final class Filter {
        @Option(
                names = "--cause",
                paramLabel = "CAUSE",
                description = "Only those of this cause, as 'job dead' or job-dead.")
        private @Nullable String cause;

        @Option(
                names = "--kind",
                paramLabel = "KIND",
                description = "Only those of this kind of job, saga, schedule or worker.")
        private @Nullable String kind;

        @Option(
                names = "--since",
                paramLabel = "TIME",
                description = "Happened last then or later: a time with its offset, or how long ago, as PT2H.")
        private @Nullable String since;

        @Option(
                names = "--before",
                paramLabel = "TIME",
                description = "Happened last before that: a time with its offset, or how long ago, as PT2H.")
        private @Nullable String before;

        boolean isEmpty() {
            return cause == null && kind == null && since == null && before == null;
        }

        AlertFilter filter() {
            AlertFilter filter = AlertFilter.all();
            filter = cause == null ? filter : filter.cause(cause(cause));
            filter = kind == null ? filter : filter.kind(kind);
            filter = since == null ? filter : filter.since(Moment.ago("--since", since));
            return before == null ? filter : filter.before(Moment.ago("--before", before));
        }

        private static AlertCause cause(String typed) {
            String text = typed.toLowerCase(Locale.ROOT).replace('-', ' ').replace('_', ' ');
            return AlertCause.of(text)
                    .orElseThrow(() -> new InvalidUseException("--cause must be one of "
                            + Arrays.stream(AlertCause.values())
                                    .map(each -> '\'' + each.text() + '\'')
                                    .collect(Collectors.joining(", "))
                            + "; got " + typed));
        }
    }

    /** From the newest back. */
    @Command(
            name = "list",
            description = {
                "Lists open alerts, the newest first. Ends with 1 if there are some.",
                "With --acknowledged: those that somebody has taken over, with who and why, until their retention is over."
            })
    static final class All extends Action {
        @Mixin
        private Filter filter = new Filter();

        @Option(names = "--acknowledged", description = "Those that somebody has taken over.")
        private boolean acknowledged;

        @Mixin
        private Limit limit = new Limit();

        @Override
        void check() {
            filter.filter();
            limit.most();
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            Alerts alerts = rowlock.alerts();
            AlertFilter which = filter.filter();
            List<Alert> found = new ArrayList<>();
            int size;
            List<Alert> page;
            do {
                size = limit.page(found.size());
                Long after =
                        found.isEmpty() ? null : found.get(found.size() - 1).id();
                page = acknowledged ? alerts.acknowledged(which, after, size) : alerts.open(which, after, size);
                found.addAll(page);
            } while (page.size() == size && found.size() <= limit.most());
            List<String> head = new ArrayList<>(List.of("id", "cause", "kind", "count", "lastAt", "job"));
            head.addAll(acknowledged ? List.of("by", "at", "why", "reason") : List.of("reason"));
            out.list(head, found.stream().limit(limit.most()).map(this::row).toList());
            if (found.size() > limit.most()) {
                Limit.more(out);
            }
            int none = acknowledged ? ExitCode.NOTHING : ExitCode.FINE;
            int some = acknowledged ? ExitCode.FINE : ExitCode.REFUSED;
            return found.isEmpty() ? none : some;
        }

        private List<@Nullable Object> row(Alert alert) {
            List<@Nullable Object> row = new ArrayList<>(Arrays.asList(
                    alert.id(),
                    alert.cause(),
                    alert.kind(),
                    alert.count(),
                    alert.span().last(),
                    alert.job()));
            if (acknowledged) {
                Alert.Acknowledgement by = Objects.requireNonNull(alert.acknowledged());
                row.addAll(Arrays.asList(by.who(), by.at(), by.why()));
            }
            row.add(alert.reason());
            return row;
        }
    }

    /** They are somebody's now. */
    @Command(
            name = "acknowledge",
            aliases = "ack",
            description = {
                "Takes alerts over: they are open no more.",
                "By their ids, or all open ones of a cause, a kind or a time. What happens after that opens new ones."
            })
    static final class Acknowledge extends Change {
        @Parameters(paramLabel = "ID", arity = "0..*", description = "The alerts.")
        private List<Long> ids = List.of();

        @Mixin
        private Filter filter = new Filter();

        @Override
        void check() {
            super.check();
            if (ids.isEmpty() == filter.isEmpty()) {
                throw new InvalidUseException(
                        "Say which alerts: either their ids, or --cause, --kind, --since, --before for all that are open");
            }
            filter.filter();
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            if (ids.isEmpty()) {
                long done = rowlock.alerts().acknowledgeAll(filter.filter(), by());
                out.sheet(Map.of("done", done));
                return done == 0 ? ExitCode.NOTHING : ExitCode.FINE;
            }
            return Each.of(out, "id", ids, id -> {
                if (rowlock.alerts().acknowledge(id, by())) {
                    return Each.Answer.done("done");
                }
                return rowlock.alerts().find(id).map(Acknowledge::before).orElseGet(Each.Answer::unknown);
            });
        }

        private static Each.Answer before(Alert alert) {
            Alert.Acknowledgement by = alert.acknowledged();
            return Each.Answer.refused(
                    by == null ? "not open" : "was acknowledged by " + by.who() + " at " + by.at() + ": " + by.why());
        }
    }
}
