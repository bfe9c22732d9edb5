package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.Job;
import io.rowlock.job.JobCursor;
import io.rowlock.job.JobPage;
import io.rowlock.job.JobQuery;
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

/** What is to be seen of jobs. */
final class JobLookCommands {
    private JobLookCommands() {}

    /** By what is said of them. */
    @Command(
            name = "find",
            description = {
                "Lists jobs, the newest first.",
                "By subject, or dead, parked and cancelled ones by queue or kind, an index leads to them; else the table is",
                "read from its end. --state running finds those that a worker has now."
            })
    static final class Find extends Action {
        @Mixin
        private JobFilter filter = new JobFilter();

        @Mixin
        private Limit limit = new Limit();

        @Override
        void check() {
            filter.required();
            limit.most();
            filter.search(limit.page(0));
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            List<List<@Nullable Object>> rows = new ArrayList<>();
            JobQuery query = filter.search(limit.page(0));
            Optional<JobCursor> next = Optional.empty();
            do {
                JobPage page = rowlock.jobs().find(next.map(query::after).orElse(query));
                page.jobs().stream().filter(filter::passes).forEach(job -> rows.add(row(job)));
                next = page.next();
            } while (next.isPresent() && rows.size() <= limit.most());
            boolean more = rows.size() > limit.most();
            out.list(
                    List.of("id", "kind", "queue", "state", "subject", "attempts", "runAt", "lastError"),
                    more ? rows.subList(0, limit.most()) : rows);
            if (more) {
                Limit.more(out);
            }
            return rows.isEmpty() ? ExitCode.NOTHING : ExitCode.FINE;
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

    /** In the word for those who look. */
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
                description =
                        "Show payload and headers, which may hold personal data: who read them, and why, is kept.")
        private boolean payload;

        @Option(
                names = "--who",
                paramLabel = "NAME",
                description = "Who reads; the operating system's user by default.")
        private String who = "";

        @Option(
                names = "--why",
                paramLabel = "REASON",
                description = "Why, in at most 200 characters; kept with the name. --payload needs it.")
        private @Nullable String why;

        @Override
        void check() {
            if (payload || why != null) {
                by();
            }
        }

        private By by() {
            return Change.by(surroundings(), who, why);
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            Optional<Job> found = rowlock.jobs().find(id);
            if (found.isEmpty()) {
                return out.missing("job", String.valueOf(id));
            }
            out.sheet(parts(rowlock, found.get()));
            return ExitCode.FINE;
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
                rowlock.jobs().content(job.id(), by()).ifPresent(content -> {
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
            description = {
                "Lists what each queue has of each kind: due and for how long, waiting, running, parked, dead.",
                "Counts end at 10,000. future: waits for its time, as after a failure; so does a revived job whose cancelled",
                "handler may still be at work, until that one's lease would have ended."
            })
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
            boolean missing = rows.isEmpty() && rowlock.jobs().find(id).isEmpty();
            if (missing && !out.json()) {
                return out.missing("job", String.valueOf(id));
            }
            List<String> head = new ArrayList<>(List.of("attempt", "at", "worker", "error", "message"));
            if (stack && out.json()) {
                head.add("stack");
            }
            out.list(head, rows);
            if (stack && !out.json()) {
                stacks.forEach(each -> each.lines().forEach(out::say));
                out.text("");
            }
            return missing ? ExitCode.NOTHING : ExitCode.FINE;
        }
    }
}
