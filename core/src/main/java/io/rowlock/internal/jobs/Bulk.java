package io.rowlock.internal.jobs;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.event.RowlockEvent;
import io.rowlock.internal.jobs.Cancels.Cancel;
import io.rowlock.internal.sql.FindSql;
import io.rowlock.internal.sql.FindSql.Ids;
import io.rowlock.internal.sql.KeySql.LockedKey;
import io.rowlock.internal.sql.OperationSql.Place;
import io.rowlock.internal.sql.OrderingKey;
import io.rowlock.job.By;
import io.rowlock.job.JobAnswer;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobQuery;
import io.rowlock.job.JobState;
import io.rowlock.job.JobTally;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes the jobs of a query, so many in one transaction. All locks of a batch are taken before anything is changed, none is
 * waited for inside it: so no two batches, nor a batch and the engine, ever wait for each other in a circle. What was locked is
 * tried again in a transaction of its own.
 */
final class Bulk {
    private static final Logger LOG = LoggerFactory.getLogger(Bulk.class);
    private static final int BATCH = 100;
    private static final int MOST_NAMED = 1_000;
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(50);

    private final Desk desk;
    private final FindSql finds;
    private final Operations operations;
    private final Cancels cancels;
    private final Revivals revivals;
    private final Changes changes;

    Bulk(Desk desk, FindSql finds) {
        this.desk = desk;
        this.finds = finds;
        this.operations = new Operations(desk);
        this.cancels = new Cancels(desk);
        this.revivals = new Revivals(desk);
        this.changes = new Changes(desk);
    }

    private enum Fate {
        DONE,
        MERGED,
        PASSED,
        REFUSED
    }

    /** The jobs of a batch that were looked at under locks, those whose handlers are to be told, those others had locked, what is to be told. */
    private record Batch(
            Map<Long, Fate> fates, Map<Long, Cancel> requested, Set<Place> busy, List<RowlockEvent> events) {
        private Batch() {
            this(new HashMap<>(), new HashMap<>(), new HashSet<>(), new ArrayList<>());
        }
    }

    JobTally change(JobQuery query, JobChange change, By by, Consumer<JobTally> progress) {
        Set<JobState> states = EnumSet.copyOf(change.states());
        states.removeIf(state -> !query.states().isEmpty() && !query.states().contains(state));
        JobTally tally = new JobTally(0, 0, 0, 0, 0, List.of(), query.after().orElse(null));
        if (states.isEmpty()) {
            return new JobTally(0, 0, 0, 0, 0, List.of(), null);
        }
        JobQuery next = query.state(states.iterator().next(), states.toArray(JobState[]::new))
                .pageSize(BATCH);
        boolean more;
        do {
            Ids page = page(next);
            tally = counted(tally, page, perform(page.ids(), change, by));
            progress.accept(tally);
            more = page.next() != null;
            next = more ? next.after(Objects.requireNonNull(page.next())) : next;
        } while (more && !Thread.currentThread().isInterrupted());
        LOG.info("{} of many jobs: {} (query={}, by={}): {}", change, tally, query.states(), by.who(), by.why());
        return tally;
    }

    private Ids page(JobQuery query) {
        try (Connection connection = desk.connections().get()) {
            return finds.find(connection, query);
        } catch (SQLException e) {
            throw new DatabaseException("Jobs could not be looked up", e);
        }
    }

    private static JobTally counted(JobTally before, Ids page, Batch batch) {
        List<Long> left = new ArrayList<>(before.left());
        batch.busy().stream()
                .map(Place::id)
                .sorted()
                .limit(MOST_NAMED - left.size())
                .forEach(left::add);
        return new JobTally(
                before.done() + count(batch, Fate.DONE),
                before.passed() + count(batch, Fate.PASSED),
                before.refused() + count(batch, Fate.REFUSED),
                before.locked() + batch.busy().size(),
                before.merged() + count(batch, Fate.MERGED),
                left,
                page.next());
    }

    private static long count(Batch batch, Fate fate) {
        return batch.fates().values().stream().filter(each -> each == fate).count();
    }

    /** All of a page, as often as it takes or the patience lasts. */
    private Batch perform(List<Long> ids, JobChange change, By by) {
        Batch all = new Batch();
        Set<Long> rest = new HashSet<>(ids);
        long until = System.nanoTime() + PATIENCE;
        while (!rest.isEmpty()) {
            Batch batch = once(rest, change, by);
            all.fates().putAll(batch.fates());
            rest.removeAll(batch.fates().keySet());
            all.busy().clear();
            all.busy().addAll(batch.busy());
            if (rest.isEmpty()
                    || System.nanoTime() - until > 0
                    || Thread.currentThread().isInterrupted()) {
                break;
            }
            LockSupport.parkNanos(PAUSE);
        }
        if (change instanceof JobChange.Cancel) {
            cancelRunning(all, by);
        }
        return all;
    }

    /** Their handlers have them locked: each is asked for in a row. */
    private void cancelRunning(Batch all, By by) {
        for (Place place : List.copyOf(all.busy())) {
            if (place.leased()) {
                try {
                    boolean done = switch (operations.cancel(place.id(), by)) {
                        case STOPPED, REQUESTED -> true;
                        case ALREADY_FINISHED, UNKNOWN -> false;
                    };
                    all.fates().put(place.id(), done ? Fate.DONE : Fate.PASSED);
                    all.busy().remove(place);
                } catch (AccessRefusedException refused) {
                    all.fates().put(place.id(), Fate.REFUSED);
                    all.busy().remove(place);
                }
            }
        }
    }

    private Batch once(Set<Long> ids, JobChange change, By by) {
        try {
            desk.note(keys(desk.inOwn(open -> desk.sql().operations().whereAre(open, ids))));
            Batch batch = desk.inOwn(open -> inside(open, ids, change, by));
            batch.events().forEach(desk.committed().listener()::on);
            batch.requested().forEach(operations::tell);
            desk.committed().maybeDue().run();
            return batch;
        } catch (SQLException e) {
            throw new DatabaseException(
                    "A batch of jobs could not be changed; those before it were, and the same call goes on with the rest",
                    e);
        }
    }

    private static List<OrderingKey> keys(List<Place> places) {
        return places.stream()
                .map(Place::key)
                .filter(Objects::nonNull)
                .distinct()
                .sorted(Comparator.comparing(OrderingKey::queue).thenComparing(OrderingKey::text))
                .toList();
    }

    private Batch inside(Connection open, Set<Long> ids, JobChange change, By by) throws SQLException {
        Batch batch = new Batch();
        List<Place> places = desk.sql().operations().whereAre(open, ids);
        ids.forEach(id -> batch.fates().put(id, Fate.PASSED)); // what is gone stays so
        List<OrderingKey> keys = keys(places);
        Set<OrderingKey> had = new HashSet<>();
        if (!keys.isEmpty()) {
            desk.sql().keys().lock(open, keys).stream().map(LockedKey::key).forEach(had::add);
        }
        Set<Long> locked = desk.sql()
                .operations()
                .tryLock(
                        open,
                        places.stream()
                                .filter(place -> place.key() == null || had.contains(place.key()))
                                .map(Place::id)
                                .toList());
        // in the order of ids; one that was put into another queue before its row was locked has another key now
        for (Place place : desk.sql().operations().whereAre(open, ids)) {
            if (locked.contains(place.id()) && (place.key() == null || had.contains(place.key()))) {
                one(open, place, change, by, batch)
                        .ifPresentOrElse(fate -> batch.fates().put(place.id(), fate), () -> leave(batch, place));
            } else {
                leave(batch, place);
            }
        }
        return batch;
    }

    private static void leave(Batch batch, Place place) {
        batch.fates().remove(place.id());
        batch.busy().add(place);
    }

    /** Empty: not now, as another transaction writes its dedup key. */
    private Optional<Fate> one(Connection open, Place place, JobChange change, By by, Batch batch) throws SQLException {
        long id = place.id();
        try {
            boolean done;
            if (change instanceof JobChange.Cancel) {
                Cancel cancel = cancels.cancel(open, id, by, batch.events()::add);
                if (cancel.requested()) {
                    batch.requested().put(id, cancel);
                }
                done = cancel.changed();
            } else if (change instanceof JobChange.Revive) {
                return (place.dedups()
                                ? revivals.reviveSoon(open, id, by, batch.events()::add)
                                : Optional.of(revivals.revive(open, id, by, batch.events()::add)))
                        .map(Bulk::fate);
            } else if (change instanceof JobChange.Delete) {
                done = changes.delete(open, id, by) == JobAnswer.DONE;
            } else if (change instanceof JobChange.Reschedule to) {
                done = changes.reschedule(open, id, to.at(), by) == JobAnswer.DONE;
            } else {
                done = changes.move(open, id, ((JobChange.Move) change).queue(), by) == JobAnswer.DONE;
            }
            return Optional.of(done ? Fate.DONE : Fate.PASSED);
        } catch (AccessRefusedException refused) {
            return Optional.of(Fate.REFUSED);
        }
    }

    private static Fate fate(JobAnswer revived) {
        return switch (revived) {
            case DONE -> Fate.DONE;
            case MERGED -> Fate.MERGED;
            default -> Fate.PASSED;
        };
    }
}
