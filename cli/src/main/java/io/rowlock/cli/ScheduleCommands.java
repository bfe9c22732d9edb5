package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.schedule.ScheduleView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Schedules. */
@Command(
        name = "schedules",
        mixinStandardHelpOptions = true,
        description = "Lists, pauses, resumes, runs and removes schedules.",
        subcommands = {
            ScheduleCommands.All.class,
            ScheduleCommands.Pause.class,
            ScheduleCommands.Resume.class,
            ScheduleCommands.RunNow.class,
            ScheduleCommands.Remove.class
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
            List<ScheduleView> all = new ArrayList<>();
            String after = null;
            List<ScheduleView> page;
            do {
                page = rowlock.schedules().all(after, PAGE);
                page.stream()
                        .filter(each -> removed || each.course().removedAt() == null)
                        .forEach(all::add);
                after = page.isEmpty() ? null : page.get(page.size() - 1).name();
            } while (page.size() == PAGE);
            Instant earliest = all.stream()
                    .map(each -> each.course().pausedAt())
                    .filter(Objects::nonNull)
                    .min(Comparator.naturalOrder())
                    .orElse(null);
            Map<String, String> reasons =
                    Pauses.reasons(rowlock, earliest, done -> done.on().schedule());
            out.list(HEAD, all.stream().map(each -> row(each, reasons)).toList());
            return ExitCode.FINE;
        }

        private static final List<String> HEAD = List.of(
                "name",
                "timing",
                "kind",
                "nextAt",
                "lastAt",
                "lastJob",
                "pausedSince",
                "pausedBy",
                "pausedWhy",
                "removedAt",
                "error");

        private static List<@Nullable Object> row(ScheduleView each, Map<String, String> reasons) {
            return Arrays.asList(
                    each.name(),
                    each.timing(),
                    each.kind(),
                    each.course().nextAt(),
                    each.course().lastAt(),
                    each.course().lastJob(),
                    each.course().pausedAt(),
                    each.course().pausedBy(),
                    each.course().pausedAt() == null ? null : reasons.get(each.name()),
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

        /** Of one that is there; else it is removed, or nobody knows it. */
        static Each.Answer whyNot(Rowlock rowlock, String name, Function<ScheduleView.Course, String> word) {
            return rowlock.schedules()
                    .find(name)
                    .map(ScheduleView::course)
                    .map(course -> Each.Answer.refused(
                            course.removedAt() == null ? word.apply(course) : "was removed at " + course.removedAt()))
                    .orElseGet(Each.Answer::unknown);
        }
    }

    /** Until resumed. */
    @Command(name = "pause", description = "Lets schedules make no jobs until they are resumed.")
    static final class Pause extends ChangeSchedules {
        @Override
        Each.Answer change(Rowlock rowlock, String name) {
            return rowlock.schedules().pause(name, by())
                    ? Each.Answer.done("paused")
                    : whyNot(
                            rowlock,
                            name,
                            course -> "was paused already by " + course.pausedBy() + " at " + course.pausedAt());
        }
    }

    /** Instants of the pause are left out. */
    @Command(name = "resume", description = "Ends the pause of schedules; instants that came in it are left out.")
    static final class Resume extends ChangeSchedules {
        @Override
        Each.Answer change(Rowlock rowlock, String name) {
            return rowlock.schedules().resume(name, by())
                    ? Each.Answer.done("resumed")
                    : whyNot(rowlock, name, course -> "was not paused");
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
            return job.map(made -> Each.Answer.done("job " + made.id()))
                    .orElseGet(() -> whyNot(rowlock, name, course -> "could not be run"));
        }
    }

    /** Its row stays. */
    @Command(
            name = "remove",
            description = {
                "Removes schedules: they make no jobs any more.",
                "Only a declaration with a higher revision brings one back. Jobs that it made stay as they are."
            })
    static final class Remove extends ChangeSchedules {
        @Override
        Each.Answer change(Rowlock rowlock, String name) {
            return rowlock.schedules().remove(name, by())
                    ? Each.Answer.done("removed")
                    : whyNot(rowlock, name, course -> "could not be removed");
        }
    }
}
