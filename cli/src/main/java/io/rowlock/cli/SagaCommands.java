package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaPage;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTimeline;
import io.rowlock.saga.SagaView;
import io.rowlock.saga.engine.SagaEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Sagas. */
@Command(
        name = "sagas",
        mixinStandardHelpOptions = true,
        description = "Looks sagas up, and retries, skips, resolves and cancels them.",
        subcommands = {
            SagaCommands.Find.class,
            SagaCommands.Show.class,
            SagaCommands.Timeline.class,
            SagaCommands.Retry.class,
            SagaCommands.Skip.class,
            SagaCommands.Resolve.class,
            SagaCommands.Cancel.class
        })
final class SagaCommands extends Group {

    private static SagaEngine engine(Rowlock rowlock, String queue) {
        return SagaEngine.withoutDefinitions(rowlock, queue);
    }

    /** The newest first. */
    @Command(name = "find", description = "Lists sagas, the newest first.")
    static final class Find extends Action {
        @Option(names = "--name", paramLabel = "NAME", description = "Of this definition.")
        private @Nullable String name;

        @Option(names = "--business-key", paramLabel = "KEY", description = "With this business key.")
        private @Nullable String businessKey;

        @Option(names = "--subject", paramLabel = "SUBJECT", description = "About this subject.")
        private @Nullable String subject;

        @Option(names = "--status", paramLabel = "STATUS", description = "One of ${COMPLETION-CANDIDATES}.")
        private @Nullable SagaStatus status;

        @Option(names = "--needs-person", description = "Those that wait for a person.")
        private boolean needsPerson;

        @Option(names = "--most", paramLabel = "N", description = "At most so many; 100 by default.")
        private int most = 100;

        @Override
        int run(Rowlock rowlock, Printer out) {
            SagaQuery query = query();
            List<List<@Nullable Object>> rows = new ArrayList<>();
            SagaPage page;
            do {
                page = engine(rowlock, "default").operations().find(query);
                page.sagas().stream().limit(most - rows.size()).forEach(each -> rows.add(row(each)));
                query = page.next().isPresent() ? query.after(page.next().get()) : query;
            } while (page.next().isPresent() && rows.size() < most);
            out.list(List.of("id", "name", "version", "status", "step", "businessKey", "updatedAt", "reason"), rows);
            return rows.isEmpty() ? ExitCode.REFUSED : ExitCode.FINE;
        }

        private SagaQuery query() {
            if (most < 1) {
                throw new InvalidUseException("--most must be at least 1, got " + most);
            }
            if (status != null && needsPerson) {
                throw new InvalidUseException("Say either --status or --needs-person");
            }
            SagaQuery query = SagaQuery.all().pageSize(Math.min(most, 1_000));
            query = name == null ? query : query.name(name);
            query = businessKey == null ? query : query.businessKey(businessKey);
            query = subject == null ? query : query.subject(subject);
            query = status == null ? query : query.status(status);
            return needsPerson ? query.needsPerson() : query;
        }

        private static List<@Nullable Object> row(SagaView saga) {
            return Arrays.asList(
                    saga.id(),
                    saga.definition().name(),
                    saga.definition().version(),
                    word(saga.status()),
                    saga.course().step(),
                    saga.keys().businessKey(),
                    saga.times().updated(),
                    saga.course().reason());
        }
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private abstract static class OneSaga extends Action {
        @Parameters(paramLabel = "ID", description = "The saga.")
        private String id = "";

        @Override
        final int run(Rowlock rowlock, Printer out) {
            OptionalInt code = show(engine(rowlock, "default"), id, out);
            if (code.isEmpty()) {
                out.say("There is no saga " + id + " (any more).");
                out.text("");
            }
            return code.orElse(ExitCode.REFUSED);
        }

        abstract OptionalInt show(SagaEngine sagas, String id, Printer out);
    }

    /** How it stands. */
    @Command(name = "show", description = "Shows how a saga stands; its state only when told.")
    static final class Show extends OneSaga {
        @Option(names = "--payload", description = "Show the state, which may hold personal data.")
        private boolean payload;

        @Override
        OptionalInt show(SagaEngine sagas, String id, Printer out) {
            Optional<SagaView> found = sagas.operations().get(id);
            found.ifPresent(saga -> out.sheet(parts(saga)));
            return found.isPresent() ? OptionalInt.of(ExitCode.FINE) : OptionalInt.empty();
        }

        private Map<String, @Nullable Object> parts(SagaView saga) {
            Map<String, @Nullable Object> parts = new LinkedHashMap<>();
            parts.put("id", saga.id());
            parts.put("name", saga.definition().name());
            parts.put("version", saga.definition().version());
            parts.put("status", word(saga.status()));
            parts.put("step", saga.course().step());
            parts.put("pivoted", saga.course().pivoted());
            parts.put("reason", saga.course().reason());
            parts.put("cancel", saga.course().cancel());
            parts.put("businessKey", saga.keys().businessKey());
            parts.put("subject", saga.keys().subject());
            parts.put("parent", saga.keys().parent());
            parts.put("createdAt", saga.times().created());
            parts.put("updatedAt", saga.times().updated());
            parts.put("finishedAt", saga.times().finished());
            parts.put("deadline", saga.times().deadline());
            SagaView.Driver driver = saga.driver();
            parts.put("driver", driver == null ? null : driver.job());
            parts.put("driverDue", driver == null ? null : driver.due());
            parts.put("worker", driver == null ? null : driver.worker());
            String state = saga.state();
            if (payload && state != null) {
                parts.put("state", new Printer.Raw(state));
            }
            return parts;
        }
    }

    /** What happened. */
    @Command(name = "timeline", description = "Shows what happened to a saga: steps, signals, what people did.")
    static final class Timeline extends OneSaga {
        @Override
        OptionalInt show(SagaEngine sagas, String id, Printer out) {
            Optional<SagaTimeline> found = sagas.operations().timeline(id);
            found.ifPresent(timeline -> print(timeline, out));
            return found.isPresent() ? OptionalInt.of(ExitCode.FINE) : OptionalInt.empty();
        }

        private static void print(SagaTimeline timeline, Printer out) {
            if (!out.json()) {
                out.text(timeline.toText().stripTrailing() + System.lineSeparator());
                return;
            }
            List<List<@Nullable Object>> rows = new ArrayList<>();
            timeline.steps()
                    .forEach(step -> rows.add(Arrays.asList(
                            "step",
                            step.branch().isEmpty() ? step.name() : step.name() + '/' + step.branch(),
                            word(step.status()),
                            step.attempts(),
                            step.times().started(),
                            step.times().finished(),
                            step.error())));
            timeline.signals()
                    .forEach(signal -> rows.add(Arrays.asList(
                            "signal", signal.name(), null, null, signal.received(), null, signal.consumedBy())));
            timeline.operations()
                    .forEach(done -> rows.add(Arrays.asList(
                            "operation",
                            done.what(),
                            done.step(),
                            null,
                            done.at(),
                            null,
                            done.who() + ": " + done.why())));
            out.list(List.of("sort", "name", "status", "attempts", "at", "finishedAt", "text"), rows);
        }
    }

    private abstract static class ChangeSaga extends Change {
        @Option(
                names = "--queue",
                paramLabel = "NAME",
                description = "The queue the application's SagaEngine was built with; 'default' by default.")
        private String queue = "default";

        @Override
        final int run(Rowlock rowlock, Printer out) {
            return change(engine(rowlock, queue), out);
        }

        abstract int change(SagaEngine sagas, Printer out);

        static Each.Answer answer(SagaAnswer answer) {
            return new Each.Answer(word(answer), answer == SagaAnswer.DONE);
        }
    }

    /** Attempts anew. */
    @Command(
            name = "retry",
            description = "Tries again what failed: each failed step or compensation gets its attempts anew.")
    static final class Retry extends ChangeSaga {
        @Parameters(
                paramLabel = "ID",
                arity = "1..*",
                description = "Sagas that are stuck, or of which a compensation failed.")
        private List<String> ids = List.of();

        @Override
        int change(SagaEngine sagas, Printer out) {
            return Each.of(out, "id", ids, id -> answer(sagas.operations().retry(id, by())));
        }
    }

    private abstract static class ChangeStep extends ChangeSaga {
        @Parameters(
                index = "0",
                paramLabel = "ID",
                description = "A saga that is stuck, or of which a compensation failed.")
        private String id = "";

        @Parameters(index = "1", paramLabel = "STEP", description = "The step that failed.", arity = "0..1")
        private @Nullable String step;

        @Override
        final int change(SagaEngine sagas, Printer out) {
            return Each.of(out, "id", List.of(id), each -> answer(change(sagas, each, step)));
        }

        abstract SagaAnswer change(SagaEngine sagas, String id, @Nullable String step);
    }

    /** Without it. */
    @Command(
            name = "skip",
            description = {
                "Goes on without a step, or without its compensation, as if it had nothing to do.",
                "It is not undone later, even if an attempt had an effect unseen."
            })
    static final class Skip extends ChangeStep {
        @Override
        SagaAnswer change(SagaEngine sagas, String id, @Nullable String step) {
            if (step == null) {
                throw new InvalidUseException("Say which step is skipped: rowlock sagas skip " + id + " STEP");
            }
            return sagas.operations().skip(id, step, by());
        }
    }

    /** By hand. */
    @Command(
            name = "resolve",
            description = {
                "Goes on behind a step, or a compensation, that a person did by hand; the state stays as it is.",
                "With --whole: ends the saga; nothing is done or undone any more."
            })
    static final class Resolve extends ChangeStep {
        @Option(names = "--whole", description = "The whole saga.")
        private boolean whole;

        @Override
        SagaAnswer change(SagaEngine sagas, String id, @Nullable String step) {
            if (whole == (step != null)) {
                throw new InvalidUseException("Say either a step that was done by hand, or --whole for the whole saga");
            }
            return step == null
                    ? sagas.operations().resolveWhole(id, by())
                    : sagas.operations().resolve(id, step, null, by());
        }
    }

    /** Undone. */
    @Command(
            name = "cancel",
            description = "Cancels sagas: what was done is undone. Refused once the pivot has started.")
    static final class Cancel extends ChangeSaga {
        @Parameters(paramLabel = "ID", arity = "1..*", description = "The sagas.")
        private List<String> ids = List.of();

        @Override
        int change(SagaEngine sagas, Printer out) {
            return Each.of(out, "id", ids, id -> {
                SagaCancellation answer = sagas.sagas().cancel(id, by());
                return new Each.Answer(word(answer), answer == SagaCancellation.ACCEPTED);
            });
        }
    }
}
