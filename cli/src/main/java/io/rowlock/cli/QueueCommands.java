package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.job.BlockedKey;
import io.rowlock.job.QueueView;
import io.rowlock.job.Queues.Pause;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Queues. */
@Command(
        name = "queues",
        mixinStandardHelpOptions = true,
        description = "Lists, pauses, resumes and limits queues.",
        subcommands = {
            QueueCommands.All.class,
            QueueCommands.PauseThem.class,
            QueueCommands.Resume.class,
            QueueCommands.Blocked.class,
            QueueSettingCommands.Limits.class,
            QueueSettingCommands.DeadHeads.class
        })
final class QueueCommands extends Group {

    /** One of which something is known. */
    static Optional<QueueView> find(Rowlock rowlock, String queue) {
        return rowlock.queues().all().stream()
                .filter(each -> each.queue().equals(queue))
                .findFirst();
    }

    /** Those that something is known of. */
    @Command(name = "list", description = "Lists queues in which jobs wait, or for which something was set.")
    static final class All extends Action {
        @Override
        int run(Rowlock rowlock, Printer out) {
            List<QueueView> queues = rowlock.queues().all();
            Instant earliest = queues.stream()
                    .map(QueueView::pause)
                    .filter(Objects::nonNull)
                    .map(Pause::since)
                    .min(Comparator.naturalOrder())
                    .orElse(null);
            Map<String, String> reasons =
                    Pauses.reasons(rowlock, earliest, done -> done.on().queue());
            List<List<@Nullable Object>> rows = new ArrayList<>();
            for (QueueView queue : queues) {
                Pause pause = queue.pause();
                rows.add(Arrays.asList(
                        queue.queue(),
                        queue.kinds(),
                        queue.earliest(),
                        queue.deadHead().text(),
                        QueueSettingCommands.words(queue.limits()),
                        pause == null ? null : pause.since(),
                        pause == null ? null : pause.who(),
                        pause == null ? null : reasons.get(queue.queue())));
            }
            out.list(
                    List.of("queue", "kinds", "firstDue", "deadHead", "limits", "pausedSince", "pausedBy", "pausedWhy"),
                    rows);
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
            boolean known = find(rowlock, queue).isPresent();
            if (rowlock.queues().pause(queue, by())) {
                return Each.Answer.done(known ? "done" : "done; no job waits there, is the name right?");
            }
            return Each.Answer.refused(rowlock.queues()
                    .pauseOf(queue)
                    .map(pause -> "was paused already by " + pause.who() + " at " + pause.since())
                    .orElse("was paused already"));
        }
    }

    /** For all workers. */
    @Command(name = "resume", description = "Ends the pause of queues; workers claim again at their next poll.")
    static final class Resume extends ChangeQueues {
        @Override
        Each.Answer change(Rowlock rowlock, String queue) {
            if (rowlock.queues().resume(queue, by())) {
                return Each.Answer.done("done");
            }
            return find(rowlock, queue).isPresent() ? Each.Answer.refused("was not paused") : Each.Answer.unknown();
        }
    }

    /** In the order of queues and keys. */
    @Command(
            name = "blocked",
            description = {
                "Lists ordering keys whose jobs wait behind a dead one, which job that is, and how many wait, counted up to 1,000.",
                "rowlock jobs revive tries the dead job again, rowlock jobs skip lets the others go on. Reads an index of these keys alone."
            })
    static final class Blocked extends Action {
        @Parameters(
                paramLabel = "QUEUE",
                arity = "0..1",
                description = "The queue; without it those of all are listed.")
        private @Nullable String queue;

        @Mixin
        private Limit limit = new Limit();

        @Override
        void check() {
            limit.most();
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            List<BlockedKey> found = new ArrayList<>();
            int size;
            List<BlockedKey> page;
            do {
                size = limit.page(found.size());
                page = rowlock.queues().blocked(queue, found.isEmpty() ? null : found.get(found.size() - 1), size);
                found.addAll(page);
            } while (page.size() == size && found.size() <= limit.most());
            out.list(
                    List.of("queue", "key", "job", "kind", "deadSince", "waiting"),
                    found.stream().limit(limit.most()).map(Blocked::row).toList());
            if (found.size() > limit.most()) {
                Limit.more(out);
            }
            return found.isEmpty() && queue != null ? ExitCode.NOTHING : ExitCode.FINE;
        }

        private static List<@Nullable Object> row(BlockedKey each) {
            return Arrays.asList(
                    each.queue(), each.orderingKey(), each.job(), each.kind(), each.since(), each.waiting());
        }
    }
}
