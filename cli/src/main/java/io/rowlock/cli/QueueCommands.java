package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.job.QueueView;
import io.rowlock.job.Queues.Pause;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Queues. */
@Command(
        name = "queues",
        mixinStandardHelpOptions = true,
        description = "Lists, pauses and resumes queues.",
        subcommands = {QueueCommands.All.class, QueueCommands.PauseThem.class, QueueCommands.Resume.class})
final class QueueCommands extends Group {

    /** Those that something is known of. */
    @Command(name = "list", description = "Lists queues in which jobs wait, or for which something was set.")
    static final class All extends Action {
        @Override
        int run(Rowlock rowlock, Printer out) {
            List<List<@Nullable Object>> rows = new ArrayList<>();
            for (QueueView queue : rowlock.queues().all()) {
                Pause pause = queue.pause();
                rows.add(Arrays.asList(
                        queue.queue(),
                        queue.kinds(),
                        queue.earliest(),
                        pause == null ? null : pause.since(),
                        pause == null ? null : pause.who(),
                        queue.deadHead().name().toLowerCase(Locale.ROOT),
                        queue.limits().running()));
            }
            out.list(List.of("queue", "kinds", "firstDue", "pausedSince", "pausedBy", "deadHead", "limit"), rows);
            return ExitCode.FINE;
        }
    }

    private abstract static class ChangeQueues extends Change {
        @Parameters(paramLabel = "QUEUE", arity = "1..*", description = "The queues.")
        private List<String> queues = List.of();

        @Override
        final int run(Rowlock rowlock, Printer out) {
            return Each.of(out, "queue", queues, queue -> change(rowlock, queue));
        }

        abstract Each.Answer change(Rowlock rowlock, String queue);
    }

    /** For all workers. */
    @Command(
            name = "pause",
            description = "Pauses queues for all workers: nothing is claimed any more; what runs, runs on.")
    static final class PauseThem extends ChangeQueues {
        @Override
        Each.Answer change(Rowlock rowlock, String queue) {
            boolean known = rowlock.queues().all().stream()
                    .anyMatch(each -> each.queue().equals(queue));
            boolean paused = rowlock.queues().pause(queue, by());
            return new Each.Answer(
                    !paused ? "was paused already" : known ? "done" : "done; no job waits there, is the name right?",
                    paused);
        }
    }

    /** For all workers. */
    @Command(name = "resume", description = "Ends the pause of queues; workers claim again at their next poll.")
    static final class Resume extends ChangeQueues {
        @Override
        Each.Answer change(Rowlock rowlock, String queue) {
            return Each.Answer.of(rowlock.queues().resume(queue, by()), "was not paused");
        }
    }
}
