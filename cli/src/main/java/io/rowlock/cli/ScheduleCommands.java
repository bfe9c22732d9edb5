package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.schedule.ScheduleView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Schedules. */
@Command(
        name = "schedules",
        mixinStandardHelpOptions = true,
        description = "Lists, pauses, resumes and runs schedules.",
        subcommands = {
            ScheduleCommands.All.class,
            ScheduleCommands.Pause.class,
            ScheduleCommands.Resume.class,
            ScheduleCommands.RunNow.class
        })
final class ScheduleCommands extends Group {
    private static final int PAGE = 1_000;

    /** By name. */
    @Command(name = "list", description = "Lists schedules by name.")
    static final class All extends Action {
        @Option(names = "--removed", description = "Removed ones too.")
        private boolean removed;

        @Override
        int run(Rowlock rowlock, Printer out) {
            List<List<@Nullable Object>> rows = new ArrayList<>();
            String after = null;
            List<ScheduleView> page;
            do {
                page = rowlock.schedules().all(after, PAGE);
                page.stream()
                        .filter(each -> removed || each.course().removedAt() == null)
                        .forEach(each -> rows.add(row(each)));
                after = page.isEmpty() ? null : page.get(page.size() - 1).name();
            } while (page.size() == PAGE);
            out.list(
                    List.of("name", "timing", "kind", "nextAt", "lastAt", "lastJob", "pausedBy", "removedAt", "error"),
                    rows);
            return ExitCode.FINE;
        }

        private static List<@Nullable Object> row(ScheduleView each) {
            return Arrays.asList(
                    each.name(),
                    each.timing(),
                    each.kind(),
                    each.course().nextAt(),
                    each.course().lastAt(),
                    each.course().lastJob(),
                    each.course().pausedBy(),
                    each.course().removedAt(),
                    each.course().error());
        }
    }

    private abstract static class ChangeSchedules extends Change {
        @Parameters(paramLabel = "NAME", arity = "1..*", description = "The schedules.")
        private List<String> schedules = List.of();

        @Override
        final int run(Rowlock rowlock, Printer out) {
            return Each.of(out, "name", schedules, name -> change(rowlock, name));
        }

        abstract Each.Answer change(Rowlock rowlock, String name);
    }

    /** Until resumed. */
    @Command(name = "pause", description = "Lets schedules make no jobs until they are resumed.")
    static final class Pause extends ChangeSchedules {
        @Override
        Each.Answer change(Rowlock rowlock, String name) {
            return Each.Answer.of(rowlock.schedules().pause(name, by()), "paused already, removed or unknown");
        }
    }

    /** Instants of the pause are left out. */
    @Command(name = "resume", description = "Ends the pause of schedules; instants that came in it are left out.")
    static final class Resume extends ChangeSchedules {
        @Override
        Each.Answer change(Rowlock rowlock, String name) {
            return Each.Answer.of(rowlock.schedules().resume(name, by()), "not paused, removed or unknown");
        }
    }

    /** Beside its instants. */
    @Command(
            name = "run",
            description = "Makes a job of each schedule now, paused or not; its instants stay as they are.")
    static final class RunNow extends ChangeSchedules {
        @Override
        Each.Answer change(Rowlock rowlock, String name) {
            Optional<Enqueued> job = rowlock.schedules().runNow(name, by());
            return new Each.Answer(job.map(made -> "job " + made.id()).orElse("removed or unknown"), job.isPresent());
        }
    }
}
