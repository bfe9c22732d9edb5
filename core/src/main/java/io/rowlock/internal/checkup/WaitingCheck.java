package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.WaitingSql;
import io.rowlock.internal.sql.WaitingSql.Lane;
import io.rowlock.internal.sql.WaitingSql.Paused;
import io.rowlock.job.BlockedKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Jobs that wait for something that does not come: a handler, a worker, a person. */
final class WaitingCheck implements Check {
    private static final int MOST_LANES = 500;
    private static final int MOST_DEAD = 1_000;
    private static final int MOST_KEYS = 10;
    private static final int MOST_WAITING = 1_000;

    private final WaitingSql sql;
    private final List<Serving> workers;
    private final Duration late;
    private final Typed typed;

    WaitingCheck(Names names, List<Serving> workers, Duration late) {
        this.sql = new WaitingSql(names);
        this.workers = workers;
        this.late = late;
        this.typed = new Typed(names);
    }

    @Override
    public String subject() {
        return "jobs that wait";
    }

    @Override
    public String right() {
        return typed.grants();
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        List<Lane> lanes = sql.lanes(connection, MOST_LANES, late);
        List<Paused> paused = sql.paused(connection, MOST_WAITING);
        Set<String> resting = paused.stream().map(Paused::queue).collect(Collectors.toSet());
        for (Paused each : paused) {
            findings.add(paused(each));
        }
        for (Lane lane : lanes) {
            judge(lane, resting.contains(lane.queue()), findings);
        }
        withoutJobs(lanes, findings);
        people(connection, findings);
        return findings;
    }

    private Finding paused(Paused queue) {
        String seen = "Queue '" + queue.queue() + "' is paused since " + queue.since() + " by " + queue.who()
                + (queue.why() == null ? "" : " (" + queue.why() + ")");
        String resume = typed.line(
                "queues resume " + Typed.word(queue.queue()) + " --why 'its time has come'",
                "when its time has come; in Java: rowlock.queues().resume(queue, by)");
        return queue.waiting() == 0
                ? Symptom.QUEUE_PAUSED.seen(seen + "; no job waits in it", resume)
                : Symptom.QUEUE_PAUSED_WITH_JOBS.seen(
                        seen + "; " + (queue.waiting() == MOST_WAITING ? "at least " : "") + queue.waiting()
                                + (queue.waiting() == 1 ? " job waits in it" : " jobs wait in it"),
                        resume);
    }

    private void judge(Lane lane, boolean paused, List<Finding> findings) {
        boolean due = lane.late() && !paused;
        String waits = "Jobs of kind '" + lane.kind() + "' in queue '" + lane.queue() + "' wait"
                + (due ? ", the first is due since " + lane.earliest() : "");
        Set<String> kinds = kinds();
        if (workers.isEmpty() || workers.stream().anyMatch(worker -> worker.does(lane.queue(), lane.kind()))) {
            if (due) {
                findings.add(Symptom.JOBS_LATE.seen(
                        waits,
                        typed.line(
                                "queues list",
                                "shows what waits where. Look whether workers run and are healthy, and what hangs: who holds"
                                        + " leases stands in locked_by. More workers or a higher concurrency help where all"
                                        + " are busy")));
            }
        } else if (!kinds.contains(lane.kind())) {
            String nearest = nearest(lane.kind(), kinds);
            findings.add((due ? Symptom.KIND_LATE_WITHOUT_HANDLER : Symptom.KIND_WITHOUT_HANDLER)
                    .seen(
                            waits + "; no worker here has a handler for it",
                            nearest.isEmpty()
                                    ? "Give a worker here a handler for the kind, or start the process that has one."
                                    : "Is '" + nearest
                                            + "' meant, which has a handler here? Else give a worker here one for"
                                            + " the kind, or start the process that has it."));
        } else {
            findings.add((due ? Symptom.QUEUE_LATE_WITHOUT_WORKER : Symptom.QUEUE_WITHOUT_WORKER)
                    .seen(
                            waits + "; no worker here that handles it serves the queue",
                            "Let a worker here serve queue '" + lane.queue() + "', or start the process that does."));
        }
    }

    private Set<String> kinds() {
        return workers.stream().flatMap(worker -> worker.kinds().stream()).collect(Collectors.toSet());
    }

    private void withoutJobs(List<Lane> lanes, List<Finding> findings) {
        Set<String> idle = new TreeSet<>(kinds());
        lanes.forEach(lane -> idle.remove(lane.kind()));
        if (!idle.isEmpty()) {
            findings.add(Symptom.HANDLER_WITHOUT_JOBS.seen(
                    "Handlers without a waiting job: " + String.join(", ", idle),
                    "Nothing; compare with the kinds that have no handler, if there are any."));
        }
    }

    private void people(Connection connection, List<Finding> findings) throws SQLException {
        List<BlockedKey> blocked = sql.blocked(connection, null, MOST_KEYS + 1);
        if (!blocked.isEmpty()) {
            String first = blocked.stream()
                    .limit(MOST_KEYS)
                    .map(key -> key.queue() + '/' + key.orderingKey() + " by job " + key.job())
                    .collect(Collectors.joining(", "));
            findings.add(Symptom.DEAD_HEADS.seen(
                    "Dead jobs block ordering keys: " + first + (blocked.size() > MOST_KEYS ? ", and more" : ""),
                    decide(blocked.get(0))));
        }
        long dead = sql.dead(connection, MOST_DEAD);
        if (dead > 0) {
            findings.add(Symptom.DEAD_LETTERS.seen(
                    (dead == MOST_DEAD ? "At least " : "") + dead + " jobs are dead",
                    typed.line(
                            "jobs find --state dead",
                            "lists them, with the ids for jobs failures, which says why one died, and for jobs revive, which"
                                    + " tries one again; in Java: find, failures and revive of rowlock.jobs()")));
        }
    }

    /** What is redacted cannot be tried again. */
    private String decide(BlockedKey head) {
        String skip = "jobs skip " + head.job() + " --why 'not needed any more'";
        return head.redacted()
                ? typed.line(
                        skip,
                        "lets the others go on without it; it is redacted, so it cannot be tried again; in Java: skip of"
                                + " rowlock.jobs()")
                : typed.line(
                                "jobs revive " + head.job() + " --why 'its cause is mended'",
                                "tries the dead job again, or")
                        + '\n'
                        + typed.line(
                                skip, "lets the others go on without it; in Java: revive and skip of rowlock.jobs()");
    }

    /** The kind that differs by the fewest letters, at most a quarter of them; else empty. */
    static String nearest(String kind, Set<String> known) {
        String nearest = "";
        int least = Math.max(1, kind.length() / 4) + 1;
        for (String each : new TreeSet<>(known)) {
            int distance = distance(kind, each);
            if (distance < least) {
                least = distance;
                nearest = each;
            }
        }
        return nearest;
    }

    /** Levenshtein's. */
    private static int distance(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int corner = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = corner + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                corner = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
