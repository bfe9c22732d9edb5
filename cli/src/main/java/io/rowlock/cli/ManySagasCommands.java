package io.rowlock.cli;

import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaRedaction;
import io.rowlock.saga.SagaTally;
import io.rowlock.saga.engine.SagaEngine;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** What is done to all sagas that are said by a filter. */
final class ManySagasCommands {
    private ManySagasCommands() {}

    private abstract static class ChangeAll extends SagaCommands.ChangeSaga {
        @Mixin
        private SagaFilter filter = new SagaFilter();

        abstract SagaTally change(SagaEngine sagas, SagaQuery which);

        @Override
        final void check() {
            super.check();
            filter.required();
            filter.query();
        }

        @Override
        final int change(SagaEngine sagas, Printer out) {
            SagaTally tally = change(sagas, filter.query());
            Map<String, @Nullable Object> sheet = new LinkedHashMap<>();
            sheet.put("done", tally.done());
            sheet.put("refused", tally.refused());
            sheet.put("locked", tally.locked());
            sheet.put("failed", tally.failed());
            out.sheet(sheet);
            return ManyJobsCommands.code(tally.done(), tally.refused() + tally.locked() + tally.failed());
        }
    }

    /** Attempts anew. */
    @Command(
            name = "retry-all",
            description = {
                "Retries all sagas that are said and wait for a person, a hundred in a transaction; may be broken off and repeated.",
                "refused: had no need of it, or were past it; locked: by others, left as they are; failed: the database refused."
            })
    static final class RetryAll extends ChangeAll {
        @Override
        SagaTally change(SagaEngine sagas, SagaQuery which) {
            return sagas.operations().retryAll(which, by());
        }
    }

    /** Undone. */
    @Command(
            name = "cancel-all",
            description = {
                "Cancels all unfinished sagas that are said, a hundred in a transaction; may be broken off and repeated.",
                "What was done is undone. refused: their pivots have started, or they were past it; locked: by others."
            })
    static final class CancelAll extends ChangeAll {
        @Override
        SagaTally change(SagaEngine sagas, SagaQuery which) {
            return sagas.operations().cancelAll(which, by());
        }
    }

    /** What a person asked to be forgotten. */
    @Command(
            name = "redact",
            description = {
                "Takes states, results, errors and what signals carried out of the finished sagas of a subject.",
                "Repeat while some are left: unfinished ones need what they carry. Jobs have a redact of their own."
            })
    static final class Redact extends SagaCommands.ChangeSaga {
        @Parameters(paramLabel = "SUBJECT", description = "The subject, or business key, as Customer:42.")
        private String subject = "";

        @Override
        int change(SagaEngine sagas, Printer out) {
            SagaRedaction redaction = sagas.operations().redact(subject, by());
            Map<String, @Nullable Object> sheet = new LinkedHashMap<>();
            sheet.put("redacted", redaction.redacted());
            sheet.put("unfinished", redaction.unfinished());
            sheet.put("locked", redaction.locked());
            out.sheet(sheet);
            return ManyJobsCommands.code(redaction.redacted(), redaction.unfinished() + redaction.locked());
        }
    }
}
