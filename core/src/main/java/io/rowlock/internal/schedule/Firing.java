package io.rowlock.internal.schedule;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.ScheduleSql;
import io.rowlock.internal.sql.ScheduleSql.Advance;
import io.rowlock.internal.sql.ScheduleSql.Locked;
import io.rowlock.job.Enqueued;
import io.rowlock.schedule.Misfire;
import io.rowlock.schedule.Overlap;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/*
 * Each instant fires once: its jobs, and the row's step from it to the next instant, are one transaction under the row's
 * lock, and the step is taken from that very instant only. Dies the process before the commit, the row stands where it stood;
 * after it, the row stands further on. Nothing is asked of jobs that were written before, which may be pruned.
 *
 * Only SKIP and a fixed delay ask whether one is still at work: last_job, or one that a person has run since, which stands in
 * the operations. A run by hand takes the place of last_job only when none of them is: so none at work is forgotten.
 */

/** Makes the jobs of one due schedule, in the caller's transaction. */
public final class Firing {
    private static final Duration LATE = Duration.ofMinutes(1);
    private static final Duration LONGEST_REST = Duration.ofDays(3_653);

    private final ScheduleSql sql;
    private final ScheduledJobs jobs;

    public Firing(Names names) {
        this.sql = new ScheduleSql(names);
        this.jobs = new ScheduledJobs(names);
    }

    /** What became of a due schedule: the jobs made; or why it cannot be read here, and then nothing was changed. */
    public record Fired(List<Enqueued> jobs, @Nullable String unreadable) {}

    /** The instants that make jobs, and where the schedule stands then. */
    private record Plan(List<Instant> instants, @Nullable Instant next) {}

    /** Empty if it is not due any more, or somebody else has its row locked. */
    public Optional<Fired> fire(Connection connection, String name) throws SQLException {
        return fire(connection, name, false);
    }

    /** The same, also while it waits after a failure. */
    Optional<Fired> fireAtOnce(Connection connection, String name) throws SQLException {
        return fire(connection, name, true);
    }

    private Optional<Fired> fire(Connection connection, String name, boolean atOnce) throws SQLException {
        Optional<Locked> locked = sql.lock(connection, name, atOnce);
        if (locked.isEmpty()) {
            return Optional.empty();
        }
        Locked schedule = locked.get();
        Plan plan;
        try {
            plan = plan(schedule, Times.of(schedule.timing()));
        } catch (RuntimeException | StackOverflowError e) {
            return Optional.of(new Fired(List.of(), "This worker cannot read the schedule: " + e.getMessage()));
        }
        return Optional.of(new Fired(carryOut(connection, schedule, plan), null));
    }

    private List<Enqueued> carryOut(Connection connection, Locked schedule, Plan plan) throws SQLException {
        boolean afterTheEnd = schedule.timing().delay() != null;
        boolean held = schedule.lastJob() != null
                && (afterTheEnd || is(schedule, Overlap.SKIP))
                && sql.unfinished(connection, schedule.name(), schedule.lastJob());
        List<Enqueued> made = held || plan.instants().isEmpty()
                ? List.of()
                : jobs.write(connection, schedule.name(), schedule.job(), is(schedule, Overlap.QUEUE), plan.instants());
        Advance to = made.isEmpty()
                ? new Advance(held && afterTheEnd ? null : plan.next(), null, null)
                : new Advance(
                        plan.next(),
                        plan.instants().get(plan.instants().size() - 1),
                        made.get(made.size() - 1).id());
        if (!sql.advance(connection, schedule.name(), schedule.nextAt(), to)) {
            throw new SQLException("A schedule moved on under its lock (schedule=" + schedule.name() + ")", "40001");
        }
        return made;
    }

    private static boolean is(Locked schedule, Overlap overlap) {
        return schedule.timing().delay() == null && schedule.overlap().equals(overlap.text());
    }

    private static Plan plan(Locked schedule, Times times) {
        Instant now = schedule.now();
        Instant earliest = now.minus(LONGEST_REST);
        Instant due = schedule.nextAt().isBefore(earliest) ? earliest : schedule.nextAt();
        if (schedule.misfire().equals(Misfire.ALL.text()) && !times.afterTheEnd()) {
            return all(due, now, times, ScheduledJobs.atOnce(schedule.job()));
        }
        Instant last = times.lastUntil(due, now);
        boolean dropped = schedule.misfire().equals(Misfire.NONE.text()) && last.isBefore(now.minus(LATE));
        List<Instant> instants = dropped ? List.of() : List.of(last);
        if (times.afterTheEnd()) {
            return new Plan(instants, dropped ? times.following(now) : null);
        }
        return new Plan(instants, times.following(last));
    }

    private static Plan all(Instant due, Instant now, Times times, int most) {
        List<Instant> instants = new ArrayList<>();
        Instant next = due;
        while (!next.isAfter(now) && instants.size() < most) {
            instants.add(next);
            next = times.following(next);
        }
        return new Plan(instants, next);
    }
}
