package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import io.rowlock.job.DeadHead;
import io.rowlock.job.QueueLimits;
import io.rowlock.job.QueueLimits.Rate;
import io.rowlock.job.QueueView;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What is set for queues over all workers. */
final class QueueSettingCommands {
    private QueueSettingCommands() {}

    /** Shows, or with something to set, and a reason, sets. */
    private abstract static class Setting extends Action {
        @Option(
                names = "--who",
                paramLabel = "NAME",
                description = "Who sets it; the operating system's user by default.")
        private String who = "";

        @Option(names = "--why", paramLabel = "REASON", description = "Why; needed to set something, and kept.")
        private @Nullable String why;

        abstract boolean sets();

        @Override
        void check() {
            if (sets()) {
                by();
            } else if (why != null) {
                throw new InvalidUseException("--why is there, and nothing to set");
            }
        }

        By by() {
            return Change.by(surroundings(), who, why);
        }

        /** Nobody knows a queue in which nothing waits and for which nothing was set. */
        static int unknown(Printer out, String queue) {
            return out.missing("job that waits in, and no setting of, queue", queue);
        }
    }

    /** How many run at once, and in a time. */
    @Command(
            name = "limits",
            description = {
                "Shows the limits of queues that hold over all workers together, or sets those of one.",
                "What is not said stays as it is; 'none' takes a limit away. Workers keep to it within seconds; what runs beyond a",
                "smaller limit runs to its end. A limit of none at all is a pause: rowlock queues pause."
            })
    static final class Limits extends Setting {
        @Parameters(paramLabel = "QUEUE", arity = "0..1", description = "The queue; without it those of all are shown.")
        private @Nullable String queue;

        @Option(names = "--running", paramLabel = "N", description = "So many of its jobs run at once.")
        private @Nullable String running;

        @Option(
                names = "--rate",
                paramLabel = "N/DURATION",
                description = "So many of its jobs begin in each window of time, as 100/PT1M.")
        private @Nullable String rate;

        @Option(
                names = "--running-per-key",
                paramLabel = "N",
                description = "So many of its jobs with one limit key run at once.")
        private @Nullable String runningPerKey;

        @Option(
                names = "--rate-per-key",
                paramLabel = "N/DURATION",
                description = "So many of its jobs with one limit key begin in each window, as 10/PT1S.")
        private @Nullable String ratePerKey;

        @Override
        boolean sets() {
            return running != null || rate != null || runningPerKey != null || ratePerKey != null;
        }

        @Override
        void check() {
            super.check();
            changed(QueueLimits.none());
            if (sets() && queue == null) {
                throw new InvalidUseException("Say whose limits: rowlock queues limits QUEUE --running 5 --why '...'");
            }
        }

        private QueueLimits changed(QueueLimits now) {
            return new QueueLimits(
                    running == null ? now.running() : number("--running", running),
                    rate == null ? now.rate() : rate("--rate", rate),
                    runningPerKey == null ? now.runningPerKey() : number("--running-per-key", runningPerKey),
                    ratePerKey == null ? now.ratePerKey() : rate("--rate-per-key", ratePerKey));
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            String name = queue;
            if (name == null) {
                List<List<@Nullable Object>> rows = new ArrayList<>();
                rowlock.queues().all().forEach(each -> rows.add(parts(each.queue(), each.limits())));
                out.list(HEAD, rows);
                return ExitCode.FINE;
            }
            if (sets()) {
                rowlock.queues().limit(name, changed(rowlock.queues().limitsOf(name)), by());
            } else if (QueueCommands.find(rowlock, name).isEmpty()) {
                return unknown(out, name);
            }
            List<@Nullable Object> row = parts(name, rowlock.queues().limitsOf(name));
            Map<String, @Nullable Object> sheet = new LinkedHashMap<>();
            for (int i = 0; i < row.size(); i++) {
                sheet.put(HEAD.get(i), row.get(i));
            }
            out.sheet(sheet);
            return ExitCode.FINE;
        }

        private static final List<String> HEAD = List.of("queue", "running", "rate", "runningPerKey", "ratePerKey");

        private static List<@Nullable Object> parts(String queue, QueueLimits limits) {
            return Arrays.asList(
                    queue, limits.running(), word(limits.rate()), limits.runningPerKey(), word(limits.ratePerKey()));
        }
    }

    private static @Nullable Integer number(String option, String text) {
        try {
            return text.equalsIgnoreCase("none") ? null : Integer.valueOf(text);
        } catch (NumberFormatException e) {
            throw new InvalidUseException(option + " must be a number, or none to take it away; got " + text, e);
        }
    }

    private static @Nullable Rate rate(String option, String text) {
        if (text.equalsIgnoreCase("none")) {
            return null;
        }
        try {
            int slash = text.indexOf('/');
            return new Rate(
                    Integer.parseInt(text.substring(0, Math.max(0, slash))), Duration.parse(text.substring(slash + 1)));
        } catch (NumberFormatException | DateTimeParseException e) {
            throw new InvalidUseException(
                    option
                            + " must be a number and the window of time it is for, as 100/PT1M, or none to take it away; got "
                            + text,
                    e);
        }
    }

    private static @Nullable String word(@Nullable Rate rate) {
        return rate == null ? null : rate.jobs() + "/" + rate.per();
    }

    /** All limits in a few words, or null if there are none. */
    static @Nullable String words(QueueLimits limits) {
        String words = Stream.of(
                        part("running", limits.running()),
                        part("rate", word(limits.rate())),
                        part("running per key", limits.runningPerKey()),
                        part("rate per key", word(limits.ratePerKey())))
                .flatMap(Optional::stream)
                .reduce((all, each) -> all + ", " + each)
                .orElse("");
        return words.isEmpty() ? null : words;
    }

    private static Optional<String> part(String name, @Nullable Object value) {
        return Optional.ofNullable(value).map(shown -> name + ' ' + shown);
    }

    /** What a dead job does to those behind it. */
    @Command(
            name = "dead-heads",
            description = {
                "Shows, or sets, what a dead job does to those behind it with its ordering key, from the next death on.",
                "block: they wait until it is revived or skipped; pass: they go on."
            })
    static final class DeadHeads extends Setting {
        @Parameters(paramLabel = "QUEUE", description = "The queue.")
        private String queue = "";

        @Option(names = "--policy", paramLabel = "POLICY", description = "block or pass.")
        private @Nullable String policy;

        @Override
        boolean sets() {
            return policy != null;
        }

        @Override
        void check() {
            super.check();
            if (policy != null) {
                read(policy);
            }
        }

        private static DeadHead read(String text) {
            return Arrays.stream(DeadHead.values())
                    .filter(each -> each.text().equals(text.toLowerCase(Locale.ROOT)))
                    .findFirst()
                    .orElseThrow(() -> new InvalidUseException("--policy must be block or pass, got " + text));
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            if (policy != null) {
                rowlock.queues().deadHead(queue, read(policy), by());
            }
            Optional<QueueView> found = QueueCommands.find(rowlock, queue);
            if (found.isEmpty()) {
                return unknown(out, queue);
            }
            Map<String, @Nullable Object> sheet = new LinkedHashMap<>();
            sheet.put("queue", queue);
            sheet.put("deadHead", found.get().deadHead().text());
            out.sheet(sheet);
            return ExitCode.FINE;
        }
    }
}
