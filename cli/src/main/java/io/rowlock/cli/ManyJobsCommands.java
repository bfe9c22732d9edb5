package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobRedaction;
import io.rowlock.job.JobTally;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What is done to jobs wherever they stand, and to all that are said by a filter. */
final class ManyJobsCommands {
    private ManyJobsCommands() {}

    private static Each.Answer answer(JobAnswer answer) {
        return new Each.Answer(answer.name().toLowerCase(Locale.ROOT), answer == JobAnswer.DONE);
    }

    /** Finished ones. */
    @Command(name = "delete", description = "Deletes finished jobs, with their failures.")
    static final class Delete extends JobCommands.ChangeJobs {
        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            return answer(rowlock.jobs().delete(id, by()));
        }
    }

    /** Waiting ones. */
    @Command(name = "reschedule", description = "Gives waiting jobs another time.")
    static final class Reschedule extends JobCommands.ChangeJobs {
        @Option(names = "--at", paramLabel = "INSTANT", required = true, description = "When, as 2026-11-29T03:00:00Z.")
        private Instant at = Instant.EPOCH;

        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            return answer(rowlock.jobs().reschedule(id, at, by()));
        }
    }

    /** Waiting ones. */
    @Command(name = "move", description = "Moves waiting jobs to another queue.")
    static final class Move extends JobCommands.ChangeJobs {
        @Option(names = "--to", paramLabel = "QUEUE", required = true, description = "The queue.")
        private String to = "";

        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            return answer(rowlock.jobs().move(id, to, by()));
        }
    }

    private abstract static class ChangeAll extends Change {
        @Mixin
        private JobFilter filter = new JobFilter();

        @Spec
        @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
        private CommandSpec spec;

        abstract JobChange change();

        private void progress(JobTally tally) {
            PrintWriter err = spec.commandLine().getErr();
            err.println(tally.done() + " done so far"); // what is broken off has said how far it came
            err.flush();
        }

        @Override
        final int run(Rowlock rowlock, Printer out) {
            if (filter.isEmpty()) {
                throw new InvalidUseException("Say which jobs: --subject, --kind, --queue, --state, ...");
            }
            JobTally tally = rowlock.jobs().changeAll(filter.query(), change(), by(), this::progress);
            Map<String, @Nullable Object> sheet = new LinkedHashMap<>();
            sheet.put("done", tally.done());
            sheet.put("passed", tally.passed());
            sheet.put("refused", tally.refused());
            sheet.put("locked", tally.locked());
            if (!tally.left().isEmpty()) {
                sheet.put("left", tally.left());
            }
            out.sheet(sheet);
            return tally.refused() + tally.locked() == 0 ? ExitCode.FINE : ExitCode.REFUSED;
        }
    }

    /** Unfinished ones. */
    @Command(
            name = "cancel-all",
            description = {
                "Cancels all unfinished jobs that are said, a hundred in a transaction; may be broken off and repeated.",
                "done: changed; passed: not in a state for it; refused: by the access policy; locked: by others, left as they are.",
                "Drivers of sagas are jobs too: without --kind their sagas are stuck then."
            })
    static final class CancelAll extends ChangeAll {
        @Override
        JobChange change() {
            return new JobChange.Cancel();
        }
    }

    /** Dead and cancelled ones. */
    @Command(
            name = "revive-all",
            description =
                    "Makes all dead or cancelled jobs that are said ready again, a hundred in a transaction; may be broken off"
                            + " and repeated.")
    static final class ReviveAll extends ChangeAll {
        @Override
        JobChange change() {
            return new JobChange.Revive();
        }
    }

    /** Finished ones. */
    @Command(
            name = "delete-all",
            description =
                    "Deletes all finished jobs that are said, a hundred in a transaction; may be broken off and repeated.")
    static final class DeleteAll extends ChangeAll {
        @Override
        JobChange change() {
            return new JobChange.Delete();
        }
    }

    /** What a person asked to be forgotten. */
    @Command(
            name = "redact",
            description =
                    "Takes payloads, headers and errors out of the finished jobs of a subject. Repeat while some are left.")
    static final class Redact extends Change {
        @Parameters(paramLabel = "SUBJECT", description = "The subject, as Customer:42.")
        private String subject = "";

        @Override
        int run(Rowlock rowlock, Printer out) {
            JobRedaction redaction = rowlock.jobs().redact(subject, by());
            Map<String, @Nullable Object> sheet = new LinkedHashMap<>();
            sheet.put("redacted", redaction.redacted());
            sheet.put("unfinished", redaction.unfinished());
            sheet.put("refused", redaction.refused());
            sheet.put("locked", redaction.locked());
            out.sheet(sheet);
            return redaction.unfinished() + redaction.refused() + redaction.locked() == 0
                    ? ExitCode.FINE
                    : ExitCode.REFUSED;
        }
    }
}
