package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobRedaction;
import io.rowlock.job.JobTally;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** What is done to all jobs that are said by a filter. */
final class ManyJobsCommands {
    private ManyJobsCommands() {}

    /** Some that are left are told before none that there were. */
    static int code(long done, long left) {
        if (left > 0) {
            return ExitCode.REFUSED;
        }
        return done == 0 ? ExitCode.NOTHING : ExitCode.FINE;
    }

    private abstract static class ChangeAll extends Change {
        @Mixin
        private JobFilter filter = new JobFilter();

        abstract JobChange change();

        @Override
        final void check() {
            super.check();
            filter.required();
            filter.change(change());
        }

        /** What is broken off has said how far it came. */
        private static void progress(Printer out, JobTally soFar) {
            if (soFar.done() > 0) {
                out.note(soFar.done() + " done so far");
            }
        }

        @Override
        final int run(Rowlock rowlock, Printer out) {
            JobTally tally =
                    rowlock.jobs().changeAll(filter.change(change()), change(), by(), soFar -> progress(out, soFar));
            Map<String, @Nullable Object> sheet = new LinkedHashMap<>();
            sheet.put("done", tally.done());
            sheet.put("passed", tally.passed());
            sheet.put("refused", tally.refused());
            sheet.put("locked", tally.locked());
            if (tally.merged() > 0) {
                sheet.put("merged", tally.merged());
            }
            if (!tally.left().isEmpty()) {
                sheet.put("left", tally.left());
            }
            out.sheet(sheet);
            return code(tally.done() + tally.merged(), tally.refused() + tally.locked());
        }
    }

    /** Unfinished ones. */
    @Command(
            name = "cancel-all",
            description = {
                "Cancels all unfinished jobs that are said, a hundred in a transaction; may be broken off and repeated.",
                "done: changed; passed: not in a state for it, or so already; refused: by the access policy; locked: by others, left as",
                "they are.",
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
            description = {
                "Makes all dead or cancelled jobs that are said ready again, a hundred in a transaction; may be broken off and repeated.",
                "merged: another waits under the job's dedup key and does the work; the job is cancelled again."
            })
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

    /** Waiting ones. */
    @Command(
            name = "reschedule-all",
            description =
                    "Gives all waiting jobs that are said another time, a hundred in a transaction; may be broken off and"
                            + " repeated.")
    static final class RescheduleAll extends ChangeAll {
        @Mixin
        private JobCommands.At at = new JobCommands.At();

        @Override
        JobChange change() {
            return at.change();
        }
    }

    /** Waiting ones. */
    @Command(
            name = "move-all",
            description =
                    "Moves all waiting jobs that are said to another queue, a hundred in a transaction; may be broken off and"
                            + " repeated.")
    static final class MoveAll extends ChangeAll {
        @Mixin
        private JobCommands.To to = new JobCommands.To();

        @Override
        JobChange change() {
            return to.change();
        }
    }

    /** What a person asked to be forgotten. */
    @Command(
            name = "redact",
            description = {
                "Takes payloads, headers and errors out of the finished jobs of a subject, and what alerts say of it.",
                "Repeat while some are left."
            })
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
            sheet.put("alerts", redaction.alerts());
            out.sheet(sheet);
            return code(
                    redaction.redacted() + redaction.alerts(),
                    redaction.unfinished() + redaction.refused() + redaction.locked());
        }
    }
}
