package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.lease.LeaseView;
import io.rowlock.lease.MemberView;
import io.rowlock.lease.PartView;
import io.rowlock.lease.PartitionsView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Partitions. */
@Command(
        name = "partitions",
        mixinStandardHelpOptions = true,
        description = "Lists partitions, who shares them, and who works on which part.",
        subcommands = {PartitionCommands.All.class, PartitionCommands.Members.class, PartitionCommands.Parts.class})
final class PartitionCommands extends Group {
    private static final int PAGE = 100;

    /** By name. */
    @Command(
            name = "list",
            description = {
                "Lists partitions by name: into how many parts, how many members live, how many parts somebody holds.",
                "Parts that are not held nobody works on. Partitions whose members have all left are not here any more."
            })
    static final class All extends Action {
        @Override
        int run(Rowlock rowlock, Printer out) {
            List<List<@Nullable Object>> rows = new ArrayList<>();
            String after = "";
            List<PartitionsView> page;
            do {
                page = rowlock.partitions().all(after, PAGE);
                page.forEach(each -> rows.add(Arrays.asList(
                        each.name(), each.parts(), each.members(), each.held(), each.parts() - each.held())));
                after = page.isEmpty() ? after : page.get(page.size() - 1).name();
            } while (page.size() == PAGE);
            out.list(List.of("name", "parts", "members", "held", "free"), rows);
            return ExitCode.FINE;
        }
    }

    /** Who joined first first. */
    @Command(
            name = "members",
            description = {
                "Lists who shares the parts of partitions, who joined first first, and which parts its process holds.",
                "Whose livesUntil is past has not said that it lives, and counts no more. All divide into the number of parts of the first."
            })
    static final class Members extends Action {
        @Parameters(paramLabel = "NAME", description = "The partitions.")
        private String name = "";

        @Override
        int run(Rowlock rowlock, Printer out) {
            List<MemberView> members = rowlock.partitions().members(name);
            if (members.isEmpty() && !out.json()) {
                return out.missing("member of partitions", name);
            }
            out.list(
                    List.of("member", "joinedAt", "livesUntil", "parts", "holds"),
                    members.stream().map(Members::row).toList());
            return members.isEmpty() ? ExitCode.NOTHING : ExitCode.FINE;
        }

        private static List<@Nullable Object> row(MemberView each) {
            return Arrays.asList(each.member(), each.joinedAt(), each.livesUntil(), each.parts(), each.held());
        }
    }

    /** By number. */
    @Command(
            name = "parts",
            description = {
                "Lists the parts of partitions and who holds them.",
                "One that nobody holds has no holder; it is free since the time in the column until."
            })
    static final class Parts extends Action {
        @Parameters(paramLabel = "NAME", description = "The partitions.")
        private String name = "";

        @Option(names = "--free", description = "Only those that nobody holds.")
        private boolean free;

        @Override
        int run(Rowlock rowlock, Printer out) {
            List<PartView> parts = rowlock.partitions().parts(name).stream()
                    .filter(part -> !free || part.lease().heldBy().isEmpty())
                    .toList();
            if (parts.isEmpty() && !out.json()) {
                return out.missing(free ? "part without a holder in partitions" : "part of partitions", name);
            }
            out.list(
                    List.of("part", "token", "holder", "takenAt", "until"),
                    parts.stream().map(Parts::row).toList());
            return parts.isEmpty() ? ExitCode.NOTHING : ExitCode.FINE;
        }

        private static List<@Nullable Object> row(PartView part) {
            LeaseView lease = part.lease();
            return Arrays.asList(part.number(), lease.token(), lease.holder(), lease.takenAt(), lease.expiresAt());
        }
    }
}
