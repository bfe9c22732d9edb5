package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.cli.AlertDoor.OpenAlert;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Alerts, through whatever door it is given. */
@Command(
        name = "alerts",
        mixinStandardHelpOptions = true,
        description = "Lists alerts that nobody has taken over, and takes them over.",
        subcommands = {AlertCommands.All.class, AlertCommands.Acknowledge.class})
final class AlertCommands extends Group {
    private final Function<Rowlock, AlertDoor> doors;

    AlertCommands(Function<Rowlock, AlertDoor> doors) {
        this.doors = doors;
    }

    /** In the order of their ids. */
    @Command(name = "list", description = "Lists open alerts. Ends with 1 if there are some.")
    static final class All extends Action {
        private static final int PAGE = 500;

        @ParentCommand
        @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
        private AlertCommands parent;

        @Option(names = "--kind", paramLabel = "KIND", description = "Only those of this kind.")
        private @Nullable String kind;

        @Override
        int run(Rowlock rowlock, Printer out) {
            AlertDoor door = parent.doors.apply(rowlock);
            List<List<@Nullable Object>> rows = new ArrayList<>();
            Long after = null;
            List<OpenAlert> page;
            do {
                page = door.open(kind, after, PAGE);
                page.forEach(each -> rows.add(Arrays.asList(
                        each.id(), each.cause(), each.kind(), each.count(), each.lastAt(), each.job(), each.reason())));
                after = page.isEmpty() ? null : page.get(page.size() - 1).id();
            } while (page.size() == PAGE);
            out.list(List.of("id", "cause", "kind", "count", "lastAt", "job", "reason"), rows);
            return rows.isEmpty() ? ExitCode.FINE : ExitCode.REFUSED;
        }
    }

    /** They are somebody's now. */
    @Command(name = "ack", description = "Takes alerts over: they are open no more.")
    static final class Acknowledge extends Change {
        @ParentCommand
        @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
        private AlertCommands parent;

        @Parameters(paramLabel = "ID", arity = "1..*", description = "The alerts.")
        private List<Long> ids = List.of();

        @Override
        int run(Rowlock rowlock, Printer out) {
            AlertDoor door = parent.doors.apply(rowlock);
            return Each.of(out, "id", ids, id -> Each.Answer.of(door.acknowledge(id, by()), "not open, or not there"));
        }
    }
}
