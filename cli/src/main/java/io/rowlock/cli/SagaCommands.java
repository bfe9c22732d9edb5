package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.engine.SagaEngine;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Sagas. */
@Command(
        name = "sagas",
        mixinStandardHelpOptions = true,
        description = "Looks sagas up, and retries, skips, resolves, cancels and redacts them.",
        subcommands = {
            SagaLookCommands.Find.class,
            SagaLookCommands.Show.class,
            SagaLookCommands.Timeline.class,
            SagaCommands.Retry.class,
            SagaCommands.Hurry.class,
            SagaCommands.Skip.class,
            SagaCommands.Resolve.class,
            SagaCommands.Cancel.class,
            ManySagasCommands.RetryAll.class,
            ManySagasCommands.CancelAll.class,
            ManySagasCommands.Redact.class
        })
final class SagaCommands extends Group {

    static SagaEngine engine(Rowlock rowlock, String queue) {
        return SagaEngine.withoutDefinitions(rowlock, queue);
    }

    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    abstract static class ChangeSaga extends Change {
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
            return switch (answer) {
                case DONE -> Each.Answer.done(word(answer));
                case UNKNOWN -> Each.Answer.unknown();
                case HEALTHY, NEEDS_PERSON, FINISHED, WRONG_STEP -> Each.Answer.refused(word(answer));
            };
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

    /** At once. */
    @Command(
            name = "hurry",
            description = {
                "Does not wait any longer for the next attempt of a step, or of a compensation: it is due now.",
                "Waits for signals and for time go on."
            })
    static final class Hurry extends ChangeSaga {
        @Parameters(paramLabel = "ID", arity = "1..*", description = "Sagas that wait.")
        private List<String> ids = List.of();

        @Override
        int change(SagaEngine sagas, Printer out) {
            return Each.of(out, "id", ids, id -> answer(sagas.operations().hurry(id, by())));
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
                return switch (answer) {
                    case ACCEPTED -> Each.Answer.done(word(answer));
                    case UNKNOWN -> Each.Answer.unknown();
                    case ONLY_FORWARD, ALREADY_COMPENSATING, ALREADY_FINISHED -> Each.Answer.refused(word(answer));
                };
            });
        }
    }
}
