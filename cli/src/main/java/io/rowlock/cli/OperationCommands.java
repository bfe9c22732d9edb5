package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.operation.Operation;
import io.rowlock.operation.OperationFilter;
import io.rowlock.operation.OperationPage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What people did. */
@Command(
        name = "operations",
        mixinStandardHelpOptions = true,
        description = "Lists what people did, and why.",
        subcommands = OperationCommands.All.class)
final class OperationCommands extends Group {

    /** What it was done to, said by one option. */
    static final class On {
        @Option(
                names = "--subject",
                paramLabel = "SUBJECT",
                description = "To jobs and sagas about this, as Order:42, whose rows are still there.")
        private @Nullable String subject;

        @Option(names = "--job", paramLabel = "ID", description = "To this job.")
        private @Nullable Long job;

        @Option(names = "--saga", paramLabel = "ID", description = "To this saga.")
        private @Nullable String saga;

        @Option(names = "--schedule", paramLabel = "NAME", description = "To this schedule.")
        private @Nullable String schedule;

        @Option(names = "--queue", paramLabel = "QUEUE", description = "To this queue.")
        private @Nullable String queue;

        @Option(names = "--alert", paramLabel = "ID", description = "To this alert.")
        private @Nullable Long alert;

        @Option(names = "--lease", paramLabel = "NAME", description = "To this lease.")
        private @Nullable String lease;

        OperationFilter narrowed(OperationFilter filter) {
            if (Stream.of(subject, job, saga, schedule, queue, alert, lease)
                            .filter(Objects::nonNull)
                            .count()
                    > 1) {
                throw new InvalidUseException(
                        "Say one of --subject, --job, --saga, --schedule, --queue, --alert, --lease: an operation is on one thing");
            }
            OperationFilter on = subject == null ? filter : filter.subject(subject);
            on = job == null ? on : on.job(job);
            on = saga == null ? on : on.saga(saga);
            on = schedule == null ? on : on.schedule(schedule);
            on = queue == null ? on : on.queue(queue);
            on = lease == null ? on : on.lease(lease);
            return alert == null ? on : on.alert(alert);
        }
    }

    /** From the newest back. */
    @Command(
            name = "list",
            description = {
                "Lists what people did to jobs, sagas, schedules, queues, alerts, leases and stored answers, and why, the newest first.",
                "Of a job, saga, schedule, alert or lease an index leads to it; else all operations are read from the newest back to --since."
            })
    static final class All extends Action {
        @Option(names = "--who", paramLabel = "NAME", description = "Done by this person or tool.")
        private @Nullable String who;

        @Option(names = "--what", paramLabel = "OPERATION", description = "Of this sort, as revive, pause or read.")
        private @Nullable String what;

        @Option(
                names = "--since",
                paramLabel = "TIME",
                description = "Then or later: a time with its offset, or how long ago, as PT12H.")
        private @Nullable String since;

        @Option(
                names = "--before",
                paramLabel = "TIME",
                description = "Before that: a time with its offset, or how long ago, as PT12H.")
        private @Nullable String before;

        @Mixin
        private On on = new On();

        @Mixin
        private Limit limit = new Limit();

        @Override
        void check() {
            filter();
            limit.most();
        }

        private OperationFilter filter() {
            OperationFilter filter = on.narrowed(OperationFilter.all());
            filter = who == null ? filter : filter.who(who);
            filter = what == null ? filter : filter.what(what);
            filter = since == null ? filter : filter.since(Moment.ago("--since", since));
            return before == null ? filter : filter.before(Moment.ago("--before", before));
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            OperationFilter which = filter();
            List<Operation> found = new ArrayList<>();
            Long after = null;
            do {
                OperationPage page = rowlock.operations().find(which, after, limit.page(found.size()));
                found.addAll(page.operations());
                after = page.next().orElse(null);
            } while (after != null && found.size() <= limit.most());
            out.list(
                    out.json()
                            ? List.of(
                                    "id",
                                    "at",
                                    "who",
                                    "what",
                                    "job",
                                    "saga",
                                    "step",
                                    "schedule",
                                    "queue",
                                    "alert",
                                    "lease",
                                    "principal",
                                    "key",
                                    "why")
                            : List.of("at", "who", "what", "on", "why"),
                    found.stream()
                            .limit(limit.most())
                            .map(each -> out.json() ? parts(each) : line(each))
                            .toList());
            if (found.size() > limit.most()) {
                Limit.more(out);
            }
            return found.isEmpty() ? ExitCode.NOTHING : ExitCode.FINE;
        }

        private static List<@Nullable Object> parts(Operation done) {
            Operation.On thing = done.on();
            Operation.Answers answers = thing.answers();
            return Arrays.asList(
                    done.id(),
                    done.at(),
                    done.who(),
                    done.what(),
                    thing.job(),
                    thing.saga(),
                    thing.step(),
                    thing.schedule(),
                    thing.queue(),
                    thing.alert(),
                    thing.lease(),
                    answers == null ? null : answers.principal(),
                    answers == null ? null : answers.key(),
                    done.why());
        }

        private static List<@Nullable Object> line(Operation done) {
            Operation.On thing = done.on();
            List<String> words = new ArrayList<>();
            add(words, "schedule", thing.schedule());
            add(words, "job", thing.job());
            add(words, "saga", thing.saga());
            add(words, "step", thing.step());
            add(words, "queue", thing.queue());
            add(words, "alert", thing.alert());
            add(words, "lease", thing.lease());
            Operation.Answers answers = thing.answers();
            if (answers != null) {
                add(words, "answers of", answers.principal());
                add(words, "key", answers.key());
            }
            return Arrays.asList(done.at(), done.who(), done.what(), String.join(" ", words), done.why());
        }

        private static void add(List<String> words, String sort, @Nullable Object name) {
            if (name != null) {
                words.add(sort + ' ' + name);
            }
        }
    }
}
