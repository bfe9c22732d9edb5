package io.rowlock.internal.engine;

import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.event.RowlockListener;
import io.rowlock.spi.WorkerExtension;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The extensions of one worker. None keeps another from its turn, nor leaves a transaction open on a connection that the
 * worker goes on with.
 */
final class Extensions {
    private static final Logger LOG = LoggerFactory.getLogger(Extensions.class);
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LATER = TimeUnit.SECONDS.toNanos(30);

    private final List<Member> members;
    private final String worker;
    private final Events events;

    /** How many have started, the first ones. */
    private volatile int started;

    Extensions(List<WorkerExtension> extensions, String worker, Events events) {
        this.members = extensions.stream().map(Member::new).toList();
        this.worker = worker;
        this.events = events;
    }

    /** Events of which the extensions hear, too. */
    static Events hear(Events events, List<WorkerExtension> extensions) {
        return events.and(
                extensions.stream().<RowlockListener>map(each -> each::happened).toList());
    }

    /** One extension, and when its housekeeping is due; written by the pruner's thread only. */
    private static final class Member {
        private final WorkerExtension extension;
        private long dueAt = System.nanoTime();
        private int failures;

        Member(WorkerExtension extension) {
            this.extension = extension;
        }
    }

    /** Starts those that have not; called again, it goes on with the one that threw. */
    void start(Connection connection) throws SQLException {
        for (int next = started; next < members.size(); next = started) {
            WorkerExtension extension = members.get(next).extension;
            inAutocommit(connection, open -> {
                extension.starting(open);
                return true;
            });
            started = next + 1;
        }
    }

    /** One turn of each that is due; gives for how long to pause. Throws nothing. */
    long keepHouse(EngineConnection connection) {
        long now = System.nanoTime();
        long pause = LATER;
        for (Member each : members) {
            if (each.dueAt - now <= 0) {
                each.dueAt = now + keepHouse(each, connection);
            }
            pause = Math.min(pause, each.dueAt - now);
        }
        return pause;
    }

    private long keepHouse(Member member, EngineConnection connection) {
        try {
            boolean more = connection.call(open -> inAutocommit(open, member.extension::housekeeping));
            member.failures = 0;
            return more ? SOON : LATER;
        } catch (Throwable thrown) {
            member.failures++;
            Described.quietly(() -> LOG.warn(
                    "The housekeeping of an extension failed; tried again in 30 s (worker={}, extension={}, failures={}): {}",
                    worker,
                    member.extension.getClass().getName(),
                    member.failures,
                    Described.text(thrown)));
            events.tell(new LoopFailed(worker, "housekeeping", member.failures, thrown));
            return LATER;
        }
    }

    /** Stops those that have started. Throws nothing; called again, it does nothing. */
    void stop() {
        int running = started;
        started = 0;
        for (Member each : members.subList(0, running)) {
            try {
                each.extension.stopped();
            } catch (Throwable thrown) {
                Described.quietly(() -> LOG.error(
                        "An extension threw at the end of its worker (worker={}, extension={})",
                        worker,
                        each.extension.getClass().getName(),
                        thrown));
            }
        }
    }

    /** Whatever transaction is left open is rolled back. */
    private static <T> T inAutocommit(Connection connection, EngineConnection.Work<T> work) throws SQLException {
        boolean before = connection.getAutoCommit();
        connection.setAutoCommit(true);
        try {
            return work.over(connection);
        } finally {
            if (!connection.getAutoCommit()) {
                connection.rollback();
            }
            connection.setAutoCommit(before);
        }
    }
}
