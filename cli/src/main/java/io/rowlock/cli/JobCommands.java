package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import io.rowlock.job.Cancellation;
import io.rowlock.job.Job;
import io.rowlock.job.JobCursor;
import io.rowlock.job.JobPage;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
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
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Jobs. */
@Command(
        name = "jobs",
        mixinStandardHelpOptions = true,
        description = "Looks jobs up, and does to one or to many what a person decides.",
        subcommands = {
            JobCommands.Find.class,
            JobCommands.Show.class,
            JobCommands.Counts.class,
            JobCommands.Load.class,
            JobCommands.Failures.class,
            JobCommands.Cancel.class,
            JobCommands.Revive.class,
            JobCommands.Skip.class,
            ManyJobsCommands.Delete.class,
            ManyJobsCommands.Reschedule.class,
            ManyJobsCommands.Move.class,
            ManyJobsCommands.CancelAll.class,
            ManyJobsCommands.ReviveAll.class,
            ManyJobsCommands.DeleteAll.class,
            ManyJobsCommands.Redact.class
        })
final class JobCommands extends Group {

    /** By what is said of them. */
    @Command(
            name = "find",
            description =
                    "Lists jobs, the newest first. By subject, or dead, parked and cancelled ones by queue or kind, an index"
                            + " leads to them; else the table is read from its end.")
    static final class Find extends Action {
        @Mixin
        private JobFilter filter = new JobFilter();

        @Option(
                names = "--limit",
                paramLabel = "N",
                defaultValue = "100",
                description = "At most so many; ${DEFAULT-VALUE} by default.")
        private int limit;

        @Spec
        @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
        private CommandSpec spec;

        @Override
        int run(Rowlock rowlock, Printer out) {
            if (filter.isEmpty()) {
                throw new InvalidUseException("Say which jobs: --subject, --kind, --queue, --state, ...");
            } else if (limit < 1) {
                throw new InvalidUseException("--limit must be at least 1, got " + limit);
            }
            List<List<@Nullable Object>> rows = new ArrayList<>();
            JobQuery query = filter.query();
            Optional<JobCursor> next = Optional.empty();
            do {
                JobPage page = rowlock.jobs().find(next.map(query::after).orElse(query));
                page.jobs().stream().limit(limit - rows.size()).forEach(job -> rows.add(row(job)));
                next = page.next();
            } while (next.isPresent() && rows.size() < limit);
            out.list(List.of("id", "kind", "queue", "state", "subject", "attempts", "runAt", "lastError"), rows);
            if (next.isPresent() || rows.size() == limit) {
                spec.commandLine().getErr().println("There may be more: raise --limit, or say more of them.");
            }
            return rows.isEmpty() ? ExitCode.REFUSED : ExitCode.FINE;
        }

        private static List<@Nullable Object> row(Job job) {
            return Arrays.asList(
                    job.id(),
                    job.kind(),
                    job.queue(),
                    state(job),
                    job.subject(),
                    job.progress().attempts(),
                    job.progress().runAt(),
                    job.progress().lastError());
        }
    }

    private static String state(Job job) {
        return job.lease().owner() == null ? job.state().text() : "running";
    }

    /** One job. */
    @Command(name = "show", description = "Shows one job; its payload and headers only when told.")
    static final class Show extends Action {
        @Parameters(paramLabel = "ID", description = "The job.")
        private long id;

        @Option(
                names = "--payload",
                description = "Show payload and headers, which may hold personal data: who read them is kept.")
        private boolean payload;

        @Option(
                names = "--who",
                paramLabel = "NAME",
                description = "Who reads; the operating system's user by default.")
        private String who = "";

        @Option(names = "--why", paramLabel = "REASON", description = "Why; kept with the name.")
        private String why = "shown on the command line";

        @Override
        int run(Rowlock rowlock, Printer out) {
            Optional<Job> found = rowlock.jobs().find(id);
            found.ifPresent(job -> out.sheet(parts(rowlock, job)));
            if (found.isEmpty()) {
                out.say("There is no job " + id + " (any more).");
                out.text("");
            }
            return found.isPresent() ? ExitCode.FINE : ExitCode.REFUSED;
        }

        private Map<String, @Nullable Object> parts(Rowlock rowlock, Job job) {
            Map<String, @Nullable Object> parts = new LinkedHashMap<>();
            parts.put("id", job.id());
            parts.put("kind", job.kind());
            parts.put("queue", job.queue());
            parts.put("state", state(job));
            parts.put("subject", job.subject());
            parts.put("priority", job.progress().priority().name().toLowerCase(Locale.ROOT));
            parts.put("runAt", job.progress().runAt());
            parts.put("attempts", job.progress().attempts());
            parts.put("maxAttempts", job.progress().maxAttempts());
            parts.put("losses", job.progress().losses());
            parts.put("createdAt", job.progress().createdAt());
            parts.put("finishedAt", job.progress().finishedAt());
            parts.put("worker", job.lease().owner());
            parts.put("leaseUntil", job.lease().until());
            parts.put("token", job.lease().token());
            parts.put("lastError", job.progress().lastError());
            if (payload) {
                By by = new By(who.isBlank() ? surroundings().user() : who, why);
                rowlock.jobs().content(job.id(), by).ifPresent(content -> {
                    parts.put("payload", new Printer.Raw(content.payload()));
                    content.headers().forEach((name, value) -> parts.put("header " + name, value));
                });
            }
            return parts;
        }
    }

    /** All of them. */
    @Command(name = "counts", description = "Counts the jobs in each state. Walks the whole table.")
    static final class Counts extends Action {
        @Override
        int run(Rowlock rowlock, Printer out) {
            Map<String, @Nullable Object> counts = new LinkedHashMap<>();
            rowlock.jobs().counts().forEach((state, n) -> counts.put(state.text(), n));
            out.sheet(counts);
            return ExitCode.FINE;
        }
    }

    /** What waits, and for how long. */
    @Command(
            name = "load",
            description =
                    "Lists what each queue has of each kind: due and for how long, waiting, running, parked, dead. Counts end"
                            + " at 10,000.")
    static final class Load extends Action {
        @Override
        int run(Rowlock rowlock, Printer out) {
            List<List<@Nullable Object>> rows = new ArrayList<>();
            rowlock.jobs()
                    .load()
                    .forEach(each -> rows.add(Arrays.asList(
                            each.queue(),
                            each.kind(),
                            each.lag().due(),
                            each.lag().behind(),
                            each.future(),
                            each.leased(),
                            each.suspects(),
                            each.parked(),
                            each.dead())));
            out.list(
                    List.of("queue", "kind", "due", "behind", "future", "running", "suspects", "parked", "dead"), rows);
            return ExitCode.FINE;
        }
    }

    /** Why. */
    @Command(name = "failures", description = "Lists the failed attempts of a job, oldest first.")
    static final class Failures extends Action {
        @Parameters(paramLabel = "ID", description = "The job.")
        private long id;

        @Option(names = "--stack", description = "Show the stack traces too.")
        private boolean stack;

        @Override
        int run(Rowlock rowlock, Printer out) {
            List<List<@Nullable Object>> rows = new ArrayList<>();
            List<String> stacks = new ArrayList<>();
            rowlock.jobs().failures(id).forEach(failure -> {
                List<@Nullable Object> row = new ArrayList<>(Arrays.asList(
                        failure.attempt(), failure.at(), failure.worker(), failure.errorClass(), failure.message()));
                if (stack && out.json()) {
                    row.add(failure.stack());
                }
                rows.add(row);
                stacks.add("attempt " + failure.attempt() + ":\n" + failure.stack());
            });
            List<String> head = new ArrayList<>(List.of("attempt", "at", "worker", "error", "message"));
            if (stack && out.json()) {
                head.add("stack");
            }
            out.list(head, rows);
            if (stack && !out.json()) {
                stacks.forEach(each -> each.lines().forEach(out::say));
                out.text("");
            }
            return ExitCode.FINE;
        }
    }

    /** What is done to each of some jobs. */
    abstract static class ChangeJobs extends Change {
        @Parameters(paramLabel = "ID", arity = "1..*", description = "The jobs; each is a transaction of its own.")
        private List<Long> ids = List.of();

        @Override
        final int run(Rowlock rowlock, Printer out) {
            return Each.of(out, "id", ids, id -> change(rowlock, id));
        }

        abstract Each.Answer change(Rowlock rowlock, long id);
    }

    /** Whatever they are at. */
    @Command(
            name = "cancel",
            description = {
                "Cancels jobs. A running handler is interrupted; where its transaction holds the row, the cancel is kept",
                "and carried out when the row is free (answer: requested)."
            })
    static final class Cancel extends ChangeJobs {
        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            Cancellation answer = rowlock.jobs().cancel(id, by());
            return new Each.Answer(
                    answer.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                    answer == Cancellation.STOPPED || answer == Cancellation.REQUESTED);
        }
    }

    /** Dead and cancelled ones. */
    @Command(
            name = "revive",
            description = "Makes dead or cancelled jobs ready again, due at once, with all their attempts.")
    static final class Revive extends ChangeJobs {
        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            boolean revived = rowlock.jobs().revive(id, by());
            return Each.Answer.of(revived, revived ? "" : whyNot(rowlock.jobs().find(id)));
        }

        private static String whyNot(Optional<Job> job) {
            return job.map(found -> found.state() == JobState.DEAD || found.state() == JobState.CANCELLED
                            ? "redacted: it carries nothing any more"
                            : found.state().text() + ": neither dead nor cancelled")
                    .orElse("unknown");
        }
    }

    /** Dead heads. */
    @Command(name = "skip", description = "Lets the jobs behind a dead one with its ordering key go on; it stays dead.")
    static final class Skip extends ChangeJobs {
        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            return Each.Answer.of(rowlock.jobs().skip(id, by()), "blocks no key");
        }
    }
}
