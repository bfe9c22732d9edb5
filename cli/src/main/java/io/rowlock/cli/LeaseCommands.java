package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.lease.Holding;
import io.rowlock.lease.LeaseView;
import io.rowlock.lease.Leases;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Leases. */
@Command(
        name = "leases",
        mixinStandardHelpOptions = true,
        description = "Lists leases, of leaders and parts too, shows who held them, and takes them away.",
        subcommands = {
            LeaseCommands.All.class,
            LeaseCommands.Show.class,
            LeaseCommands.History.class,
            LeaseCommands.Revoke.class
        })
final class LeaseCommands extends Group {
    private static final int PAGE = 1_000;

    /** By name. */
    @Command(
            name = "list",
            description = {
                "Lists leases by name: who holds them, since when, until when unless renewed.",
                "One that nobody holds has no holder; it is free since the time in the column until. Parts of partitions are leases"
                        + " named partition:NAME/NUMBER."
            })
    static final class All extends Action {
        @Option(names = "--held", description = "Only those that somebody holds.")
        private boolean held;

        @Option(names = "--free", description = "Only those that nobody holds.")
        private boolean free;

        @Mixin
        private Limit limit = new Limit();

        @Override
        void check() {
            limit.most();
            if (held && free) {
                throw new InvalidUseException("Say --held or --free; without them all are listed");
            }
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            List<LeaseView> found = new ArrayList<>();
            String after = "";
            List<LeaseView> page;
            do {
                page = rowlock.leases().all(after, PAGE);
                page.stream().filter(this::isAskedFor).forEach(found::add);
                after = page.isEmpty() ? after : page.get(page.size() - 1).name();
            } while (page.size() == PAGE && found.size() <= limit.most());
            out.list(
                    HEAD,
                    found.stream().limit(limit.most()).map(LeaseCommands::row).toList());
            if (found.size() > limit.most()) {
                Limit.more(out);
            }
            return found.isEmpty() && (held || free) ? ExitCode.NOTHING : ExitCode.FINE;
        }

        private boolean isAskedFor(LeaseView lease) {
            return held == free || lease.heldBy().isPresent() == held;
        }
    }

    private static final List<String> HEAD = List.of("name", "token", "holder", "takenAt", "until");

    private static List<@Nullable Object> row(LeaseView lease) {
        return Arrays.asList(lease.name(), lease.token(), lease.holder(), lease.takenAt(), lease.expiresAt());
    }

    /** One. */
    @Command(name = "show", description = "Shows who holds a lease.")
    static final class Show extends Action {
        @Parameters(paramLabel = "NAME", description = "The lease.")
        private String name = "";

        @Override
        int run(Rowlock rowlock, Printer out) {
            Optional<LeaseView> found = rowlock.leases().find(name);
            if (found.isEmpty()) {
                return out.missing("lease", name);
            }
            List<@Nullable Object> row = row(found.get());
            Map<String, @Nullable Object> sheet = new LinkedHashMap<>();
            for (int i = 0; i < row.size(); i++) {
                sheet.put(HEAD.get(i), row.get(i));
            }
            out.sheet(sheet);
            return ExitCode.FINE;
        }
    }

    /** From the newest back. */
    @Command(
            name = "history",
            description = {
                "Lists who held a lease when, the newest first, and how it ended.",
                "released: given back; expired: ran out, and another took it; revoked: taken away by a person; abandoned: given up, as its"
                        + " work had not ended in time. Without an end it is held, or ran out and nobody has taken it since."
            })
    static final class History extends Action {
        @Parameters(paramLabel = "NAME", description = "The lease.")
        private String name = "";

        @Mixin
        private Limit limit = new Limit();

        @Override
        void check() {
            if (limit.most() > PAGE) {
                throw new InvalidUseException("--limit must be at most " + PAGE + " here, got " + limit.most());
            }
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            List<Holding> history = rowlock.leases().history(name, limit.page(0));
            if (history.isEmpty() && !out.json()) {
                return out.missing("history of a lease", name);
            }
            out.list(
                    List.of("token", "holder", "takenAt", "endedAt", "end"),
                    history.stream().limit(limit.most()).map(History::row).toList());
            if (history.size() > limit.most()) {
                Limit.more(out);
            }
            return history.isEmpty() ? ExitCode.NOTHING : ExitCode.FINE;
        }

        private static List<@Nullable Object> row(Holding each) {
            Holding.End end = each.end();
            return Arrays.asList(
                    each.token(),
                    each.holder(),
                    each.takenAt(),
                    each.endedAt(),
                    end == null ? null : end.name().toLowerCase(Locale.ROOT));
        }
    }

    /** The next one who tries has it. */
    @Command(
            name = "revoke",
            description = {
                "Takes leases away from their holders: others can take them at once.",
                "A holder notices at its next renewal and stops; what it writes late is refused by its fence. It may try to take the lease"
                        + " again, as all do: end that process if it does nothing. Waits for none; what has passed the fence before may still commit, and the next holder waits for it."
            })
    static final class Revoke extends Change {
        @Parameters(paramLabel = "NAME", arity = "1..*", description = "The leases.")
        private List<String> names = List.of();

        @Override
        int run(Rowlock rowlock, Printer out) {
            return Each.of(out, "name", names, name -> revoke(rowlock.leases(), name));
        }

        private Each.Answer revoke(Leases leases, String name) {
            Optional<LeaseView> before = leases.find(name);
            if (leases.revoke(name, by())) {
                return Each.Answer.done(before.flatMap(LeaseView::heldBy)
                        .map(holder -> "taken from " + holder)
                        .orElse("done"));
            }
            return before.isPresent() ? Each.Answer.refused("nobody holds it") : Each.Answer.unknown();
        }
    }
}
