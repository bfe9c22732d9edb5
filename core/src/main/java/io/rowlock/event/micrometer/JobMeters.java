package io.rowlock.event.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.rowlock.event.RowlockEvent.AttemptEnded;
import io.rowlock.event.RowlockEvent.AttemptStarted;
import io.rowlock.event.RowlockEvent.JobCancelled;
import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.JobDied;
import io.rowlock.event.RowlockEvent.JobEvent;
import io.rowlock.event.RowlockEvent.JobHandedBack;
import io.rowlock.event.RowlockEvent.JobMerged;
import io.rowlock.event.RowlockEvent.JobRescued;
import io.rowlock.event.RowlockEvent.JobRetried;
import io.rowlock.event.RowlockEvent.JobRevived;
import io.rowlock.event.RowlockEvent.JobSnoozed;
import io.rowlock.event.RowlockEvent.JobTimedOut;
import io.rowlock.event.RowlockEvent.LeaseLost;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Snooze;

/** The meters of one kind in one queue: all are there from its first job on, so that what never happened is 0. */
final class JobMeters {
    private final MeterRegistry registry;
    private final Tags tags;
    private final Counter written;
    private final Counter duplicates;
    private final Timer waiting;
    private final Timer returned;
    private final Timer failed;
    private final Timer snoozedRuns;
    private final Counter completed;
    private final Counter retried;
    private final Counter died;
    private final Counter snoozed;
    private final Counter merged;
    private final Counter handedBack;
    private final Counter timeouts;
    private final Counter lost;
    private final Counter rescued;
    private final Counter cancelled;
    private final Counter revived;

    JobMeters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        written =
                counter("enqueued", "Jobs written, whether or not their transactions committed", "duplicate", "false");
        duplicates =
                counter("enqueued", "Jobs written, whether or not their transactions committed", "duplicate", "true");
        waiting = Timer.builder("rowlock.job.wait")
                .description("From when a job was due until its handler began")
                .tags(tags)
                .register(registry);
        returned = duration("returned");
        failed = duration("failed");
        snoozedRuns = duration("snoozed");
        completed = outcome("completed");
        retried = outcome("retried");
        died = outcome("died");
        snoozed = outcome("snoozed");
        merged = outcome("merged");
        handedBack = outcome("handed_back");
        timeouts = counter("timeouts", "Attempts that took longer than their handler's timeout");
        lost = counter("lost", "Leases lost before the outcome could be recorded");
        rescued = counter("rescued", "Jobs taken from workers that vanished");
        cancelled = counter("cancelled", "Jobs that people have cancelled");
        revived = counter("revived", "Dead or cancelled jobs that people have made ready again");
    }

    private Counter counter(String name, String description, String... more) {
        return Counter.builder("rowlock.job." + name)
                .description(description)
                .tags(tags.and(more))
                .register(registry);
    }

    private Counter outcome(String outcome) {
        return counter("outcomes", "What became of attempts, as it was recorded", "outcome", outcome);
    }

    private Timer duration(String result) {
        return Timer.builder("rowlock.job.duration")
                .description("How long attempts took: the payload, the handler, its transaction")
                .tags(tags.and("result", result))
                .register(registry);
    }

    void count(Enqueued job) {
        (job.duplicate() ? duplicates : written).increment();
    }

    void count(JobEvent event) {
        if (event instanceof AttemptStarted started) {
            waiting.record(started.waited());
        } else if (event instanceof AttemptEnded ended) {
            Throwable thrown = ended.thrown();
            (thrown == null ? returned : thrown instanceof Snooze ? snoozedRuns : failed).record(ended.took());
        } else if (event instanceof JobCompleted) {
            completed.increment();
        } else if (event instanceof JobRetried) {
            retried.increment();
        } else if (event instanceof JobDied) {
            died.increment();
        } else {
            countRare(event);
        }
    }

    private void countRare(JobEvent event) {
        if (event instanceof JobSnoozed) {
            snoozed.increment();
        } else if (event instanceof JobMerged) {
            merged.increment();
        } else if (event instanceof JobHandedBack) {
            handedBack.increment();
        } else if (event instanceof JobTimedOut) {
            timeouts.increment();
        } else if (event instanceof LeaseLost) {
            lost.increment();
        } else if (event instanceof JobRescued) {
            rescued.increment();
        } else if (event instanceof JobCancelled) {
            cancelled.increment();
        } else if (event instanceof JobRevived) {
            revived.increment();
        }
    }
}
