package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.job.Cancellation;
import io.rowlock.job.Job;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobState;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Jobs. */
@Command(
        name = "jobs",
        mixinStandardHelpOptions = true,
        description = "Looks jobs up, and does to one or to many what a person decides.",
        subcommands = {
            JobLookCommands.Find.class,
            JobLookCommands.Show.class,
            JobLookCommands.Counts.class,
            JobLookCommands.Load.class,
            JobLookCommands.Failures.class,
            JobCommands.Cancel.class,
            JobCommands.Revive.class,
            JobCommands.Skip.class,
            JobCommands.Delete.class,
            JobCommands.Reschedule.class,
            JobCommands.Move.class,
            ManyJobsCommands.CancelAll.class,
            ManyJobsCommands.ReviveAll.class,
            ManyJobsCommands.DeleteAll.class,
            ManyJobsCommands.RescheduleAll.class,
            ManyJobsCommands.MoveAll.class,
            ManyJobsCommands.Redact.class
        })
final class JobCommands extends Group {

    /** When jobs are to be due. */
    static final class At {
        @Option(
                names = "--at",
                paramLabel = "TIME",
                required = true,
                description =
                        "When: a time with its offset, as 2026-11-29T03:00:00Z or 2026-11-29T04:00:00+01:00, or how long"
                                + " from now by this machine's clock, as PT1H; the past is now.")
        private String at = "";

        JobChange.Reschedule change() {
            return new JobChange.Reschedule(Moment.ahead("--at", at));
        }
    }

    /** Where jobs are to stand. */
    static final class To {
        @Option(names = "--to", paramLabel = "QUEUE", required = true, description = "The queue.")
        private String to = "";

        JobChange.Move change() {
            return new JobChange.Move(to);
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
                "Cancels jobs.",
                "A running handler is interrupted; where its transaction holds the row, the cancel is kept and carried out when",
                "the row is free (answer: requested)."
            })
    static final class Cancel extends ChangeJobs {
        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            Cancellation answer = rowlock.jobs().cancel(id, by());
            String word = answer.name().toLowerCase(Locale.ROOT).replace('_', ' ');
            return switch (answer) {
                case STOPPED, REQUESTED -> Each.Answer.done(word);
                case ALREADY_FINISHED -> Each.Answer.refused(word);
                case UNKNOWN -> Each.Answer.unknown();
            };
        }
    }

    /** Dead and cancelled ones. */
    @Command(
            name = "revive",
            description = "Makes dead or cancelled jobs ready again, due at once, with all their attempts.")
    static final class Revive extends ChangeJobs {
        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            return switch (rowlock.jobs().revive(id, by())) {
                case DONE -> Each.Answer.done("done");
                case MERGED -> Each.Answer.done("merged into another that waits under its dedup key");
                default -> rowlock.jobs().find(id).map(Revive::whyNot).orElseGet(Each.Answer::unknown);
            };
        }

        private static Each.Answer whyNot(Job job) {
            return Each.Answer.refused(
                    job.state() == JobState.DEAD || job.state() == JobState.CANCELLED
                            ? "redacted: it carries nothing any more"
                            : job.state().text() + ": neither dead nor cancelled");
        }
    }

    /** Dead heads. */
    @Command(name = "skip", description = "Lets the jobs behind a dead one with its ordering key go on; it stays dead.")
    static final class Skip extends ChangeJobs {
        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            if (rowlock.jobs().skip(id, by())) {
                return Each.Answer.done("done");
            }
            return rowlock.jobs().find(id).isPresent() ? Each.Answer.refused("blocks no key") : Each.Answer.unknown();
        }
    }

    private static Each.Answer answer(JobAnswer answer) {
        String word = answer.name().toLowerCase(Locale.ROOT);
        return switch (answer) {
            case DONE, ALREADY, MERGED -> Each.Answer.done(word);
            case RUNNING, FINISHED, UNFINISHED -> Each.Answer.refused(word);
            case UNKNOWN -> Each.Answer.unknown();
        };
    }

    /** Finished ones. */
    @Command(name = "delete", description = "Deletes finished jobs, with their failures.")
    static final class Delete extends ChangeJobs {
        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            return answer(rowlock.jobs().delete(id, by()));
        }
    }

    /** Waiting ones. */
    @Command(name = "reschedule", description = "Gives waiting jobs another time.")
    static final class Reschedule extends ChangeJobs {
        @Mixin
        private At at = new At();

        @Override
        void check() {
            super.check();
            at.change();
        }

        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            return answer(rowlock.jobs().reschedule(id, at.change().at(), by()));
        }
    }

    /** Waiting ones. */
    @Command(name = "move", description = "Moves waiting jobs to another queue.")
    static final class Move extends ChangeJobs {
        @Mixin
        private To to = new To();

        @Override
        void check() {
            super.check();
            to.change();
        }

        @Override
        Each.Answer change(Rowlock rowlock, long id) {
            return answer(rowlock.jobs().move(id, to.change().queue(), by()));
        }
    }
}
