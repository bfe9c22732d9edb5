package io.rowlock.internal.lease;

import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.internal.engine.Described;
import io.rowlock.internal.engine.EngineConnection;
import io.rowlock.internal.engine.Loop;
import io.rowlock.internal.lease.PartRun.Stay;
import io.rowlock.internal.sql.PartitionSql;
import io.rowlock.internal.sql.PartitionSql.FreePart;
import io.rowlock.internal.sql.PartitionSql.Member;
import io.rowlock.internal.sql.SessionSql;
import io.rowlock.lease.PartTask;
import io.rowlock.lease.PartitionMember;
import io.rowlock.worker.WorkerHealth.FailingLoop;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Each look: say that we live, count who lives, see which parts are free; then take up to the share, or drain what is above it.
 * What is drained is a task that was told to end: its lease is kept up, and counts as ours, until it has (TermRun), at most for the
 * drain limit; a task that goes on beyond it still counts, so that its part is not begun here a second time beside it. A part
 * taken above the share, as nobody else took it, is not drained at the next look but kept for five times to live, or a member that
 * lives and takes nothing would make it go round. Nothing here says who may work: only the lease does.
 */
/** Takes parts up to its share, and hands over what is above it. */
final class LeaseMember implements PartitionMember, Contender {
    private static final Logger LOG = LoggerFactory.getLogger(LeaseMember.class);
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final long MOST_PAUSE = TimeUnit.SECONDS.toNanos(1);
    private static final int SURPLUS_KEPT = 5;

    /** Rows of parts are made at first, and now and then: what is missing among the free ones is held by others mostly. */
    private static final long BETWEEN_MAKES = TimeUnit.MINUTES.toNanos(1);

    private final Contenders contenders;
    private final PartitionSql sql;
    private final Times times;
    private final Division division;
    private final PartTask task;
    private final Member self;
    private final List<String> names;
    private final Loop loop;
    private final Map<Integer, PartRun> runs = new ConcurrentHashMap<>();
    private volatile boolean stopping;
    private volatile int members;
    private boolean waits;
    private boolean left;
    private long nextMake = System.nanoTime();

    /** What is divided into how many parts. */
    record Division(String name, int parts) {}

    /** How long a lease lives, and how long a part may drain. */
    record Times(Duration timeToLive, Duration drainLimit) {}

    LeaseMember(Contenders contenders, PartitionSql sql, Times times, Division division, PartTask task) {
        this.contenders = contenders;
        this.sql = sql;
        this.times = times;
        this.division = division;
        this.task = task;
        String each = UUID.randomUUID().toString().substring(0, 8); // one process may join twice
        this.self = new Member(contenders.taker.holder + '-' + each, division.parts());
        this.names = IntStream.range(0, division.parts())
                .mapToObj(part -> "partition:" + division.name() + '/' + part)
                .toList();
        this.loop = new Loop("partition-" + division.name(), contenders.taker.holder, contenders.events, this::look);
    }

    void start() {
        loop.start();
    }

    /** What one look saw. */
    private record Seen(List<Member> members, List<FreePart> free) {}

    /** A step of the loop. */
    private long look() throws SQLException {
        if (stopping && runs.values().stream().noneMatch(PartRun::isHeld)) {
            return end();
        }
        Seen seen = see(contenders.shared());
        members = seen.members().size();
        if (!stopping && isDividedAsTold(seen.members())) {
            share(seen);
        }
        return pause();
    }

    /** Nothing is held any more; what still runs under a lost lease keeps nobody from dividing anew. */
    private long end() {
        if (!left) {
            left = true;
            leave();
        }
        if (runs.isEmpty()) {
            loop.stop();
            contenders.remove(this);
        }
        return pause();
    }

    private long pause() {
        return Math.min(MOST_PAUSE, times.timeToLive().toNanos() / 3);
    }

    private Seen see(EngineConnection open) throws SQLException {
        boolean makes = nextMake - System.nanoTime() <= 0;
        Seen seen = open.inTransaction(one -> {
            SessionSql.begin(one, PATIENCE, PATIENCE.multipliedBy(4));
            sql.live(one, division.name(), self, times.timeToLive());
            sql.forget(one, division.name());
            List<Member> living = sql.living(one, division.name());
            List<FreePart> free = sql.free(one, names);
            if (makes && free.size() + runs.size() < names.size() && sql.make(one, names) > 0) {
                free = sql.free(one, names);
            }
            return new Seen(living, free);
        });
        if (makes) { // and not before it is committed
            nextMake = System.nanoTime() + BETWEEN_MAKES;
        }
        return seen;
    }

    /** The number of parts of who joined first counts; the others wait until those have left. */
    private boolean isDividedAsTold(List<Member> living) {
        if (living.isEmpty()) {
            return false; // not even we: looked at again
        }
        Member first = living.get(0);
        boolean same = first.parts() == division.parts();
        if (!same && !waits) {
            LOG.warn(
                    "Another member divides into another number of parts; this one takes none until those have left"
                            + " (partitions={}, parts={}, other={}, otherParts={})",
                    division.name(),
                    division.parts(),
                    first.member(),
                    first.parts());
        }
        waits = !same;
        if (!same) {
            runs.values().forEach(PartRun::ask);
        }
        return same;
    }

    private void share(Seen seen) throws SQLException {
        long living = seen.members().stream()
                .filter(each -> each.parts() == division.parts())
                .count();
        int share = (int) ((division.parts() + living - 1) / Math.max(1, living));
        List<FreePart> free = new ArrayList<>(seen.free());
        free.removeIf(part -> runs.containsKey(part.number()));
        Collections.shuffle(free); // so that members do not all try the same ones
        long until = System.nanoTime() + pause();
        for (FreePart part : free) {
            if (stopping || System.nanoTime() - until >= 0) {
                return; // each that is fenced costs a wait, and this member must say in time that it lives
            }
            if (runs.size() < share) {
                take(part.number(), System.nanoTime());
            } else if (part.since().compareTo(times.timeToLive()) >= 0) {
                take(
                        part.number(),
                        System.nanoTime() + SURPLUS_KEPT * times.timeToLive().toNanos());
                return; // one at a look, so that all have some of them
            }
        }
        drain(share);
    }

    /** Those that were taken last. */
    private void drain(int share) {
        long going = runs.values().stream().filter(PartRun::countsForShare).count();
        runs.values().stream()
                .filter(PartRun::countsForShare)
                .sorted((one, other) -> Long.compare(other.token(), one.token()))
                .limit(Math.max(0, going - share))
                .forEach(PartRun::ask);
    }

    private void take(int part, long surplusUntil) throws SQLException {
        Optional<HeldLease> lease = contenders.tryTake(names.get(part), times.timeToLive());
        if (lease.isEmpty()) {
            return;
        }
        PartRun run = new PartRun(lease.get(), part, division.parts(), new Stay(surplusUntil, times.drainLimit()));
        runs.put(part, run);
        if (stopping) { // it was told to, while the lease was taken: nothing begins any more
            runs.remove(part, run);
            run.dismiss();
            return;
        }
        try {
            Thread thread = new Thread(null, () -> work(run), "rowlock-part-" + division.name() + '-' + part, 0, false);
            thread.setDaemon(true);
            thread.start();
        } catch (RuntimeException | Error noThread) {
            runs.remove(part, run);
            run.dismiss();
            throw noThread;
        }
    }

    private void work(PartRun run) {
        try {
            run.runToItsEnd(() -> {
                run.lease.onLost(() -> contenders.abandoner.abandon(run, division.name()));
                task.work(run);
            });
        } catch (Throwable thrown) {
            Described.quietly(() -> LOG.warn(
                    "The task of a part failed; the part is released, and taken again (partitions={}, part={}): {}",
                    division.name(),
                    run.number(),
                    Described.text(thrown),
                    thrown));
            contenders.events.tell(new LoopFailed(
                    contenders.taker.holder, "partition-" + division.name() + '/' + run.number(), 1, thrown));
        } finally {
            runs.remove(run.number(), run);
            if (stopping) {
                loop.wakeNow();
            }
        }
    }

    @Override
    public Set<Integer> parts() {
        return runs.values().stream()
                .filter(PartRun::isHeld)
                .map(PartRun::number)
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public Set<Integer> draining() {
        return runs.values().stream()
                .filter(run -> run.isHeld() && run.isAsked())
                .map(PartRun::number)
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public int members() {
        return members;
    }

    @Override
    public void ask() {
        stopping = true;
        runs.values().forEach(PartRun::ask);
        loop.wakeNow();
    }

    /** The loop goes on until the last task has ended: it says that this member lives, so that nobody divides anew beside it. */
    @Override
    public boolean stop(Duration grace) {
        LeaseChecks.notNegative("grace", grace);
        ask();
        long until = System.nanoTime() + grace.toNanos();
        boolean ended = TermRun.stop(List.copyOf(runs.values()), grace);
        if (ended) {
            join(until - System.nanoTime());
        }
        return ended;
    }

    /** So that the others know at once; no task runs any more, whether it leaves in time or not. */
    private void join(long left) {
        try {
            loop.join(Math.max(PATIENCE.toMillis(), TimeUnit.NANOSECONDS.toMillis(left)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The others share what it had sooner. */
    private void leave() {
        try {
            contenders.shared().inTransaction(one -> {
                SessionSql.begin(one, PATIENCE, PATIENCE.multipliedBy(4));
                sql.leave(one, division.name(), self.member());
                return true;
            });
        } catch (SQLException | RuntimeException e) {
            LOG.info("A member could not say that it leaves; it counts until its time is over", e);
        }
    }

    @Override
    public boolean works(HeldLease lease) {
        return runs.values().stream().anyMatch(run -> run.works(lease));
    }

    @Override
    public List<FailingLoop> failing() {
        Stream<FailingLoop> outliving = runs.values().stream()
                .filter(run -> !run.isHeld() && run.lease.wasLost() && !run.hasEnded())
                .map(run -> new FailingLoop(
                        "partition-" + division.name() + '/' + run.number(),
                        1,
                        "its task still runs, though its part is lost; a thread dump shows what it waits for"));
        return Stream.concat(loop.failing().stream(), outliving).toList();
    }
}
