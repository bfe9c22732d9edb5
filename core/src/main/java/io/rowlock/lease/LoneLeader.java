package io.rowlock.lease;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Always leads. */
final class LoneLeader implements Leader {
    private static final Logger LOG = LoggerFactory.getLogger(LoneLeader.class);

    @Override
    public Candidacy run(String name, LeaderTask task) {
        Always candidacy = new Always(checked(name), checked(task));
        candidacy.thread.start();
        return candidacy;
    }

    @Override
    public boolean tryRun(String name, LeaderTask task) throws Exception {
        checked(task).lead(new LoneTerm(checked(name)));
        return true;
    }

    private static <T> T checked(@Nullable T value) {
        if (value == null) {
            throw new InvalidUseException("Name and task of a leader must not be null");
        }
        return value;
    }

    /** A term that ends when it is told to. */
    private static final class LoneTerm implements Term {
        private final String name;
        private volatile boolean asked;

        LoneTerm(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long token() {
            return 0;
        }

        @Override
        public void fence(Connection connection) {
            try {
                if (connection == null || connection.getAutoCommit()) {
                    throw new InvalidUseException("Cannot fence without a transaction: the connection is null or in"
                            + " autocommit mode; call setAutoCommit(false) and commit what is written with it");
                }
            } catch (SQLException e) {
                throw new DatabaseException("The connection could not be checked", e);
            }
        }

        @Override
        public boolean goesOn() {
            return !asked;
        }

        @Override
        public boolean isHeld() {
            return true;
        }

        @Override
        public void check() {
            // nobody can take it
        }

        @Override
        public Duration left() {
            return Duration.ofDays(1);
        }
    }

    /** Leads until it is stopped; a second after each end of the task again. */
    private static final class Always implements Candidacy {
        private final LeaderTask task;
        private final LoneTerm term;
        private final CountDownLatch stopped = new CountDownLatch(1);
        final Thread thread;

        Always(String name, LeaderTask task) {
            this.task = task;
            this.term = new LoneTerm(name);
            this.thread = new Thread(this::lead, "rowlock-leader-" + name);
            this.thread.setDaemon(true);
        }

        private void lead() {
            while (term.goesOn()) {
                try {
                    task.lead(term);
                    pause();
                } catch (InterruptedException e) {
                    LOG.debug("Interrupted; ends by stop() only (leader={})", term.name());
                } catch (Throwable thrown) {
                    LOG.warn("The task of a leader failed and will be tried again (leader={})", term.name(), thrown);
                    pause();
                }
            }
        }

        private void pause() {
            try {
                if (stopped.await(BETWEEN_TRIES.toMillis(), TimeUnit.MILLISECONDS)) {
                    LOG.debug("Stopped (leader={})", term.name());
                }
            } catch (InterruptedException e) {
                LOG.debug("Interrupted; ends by stop() only (leader={})", term.name());
            }
        }

        @Override
        public boolean leads() {
            return thread.isAlive() && term.goesOn();
        }

        @Override
        public boolean stop(Duration grace) {
            if (grace == null || grace.isNegative()) {
                throw new InvalidUseException("grace must be 0 or more, got " + grace);
            }
            term.asked = true;
            stopped.countDown();
            if (Thread.currentThread() == thread) {
                return false;
            }
            try {
                thread.join(Math.max(1, grace.toMillis()));
                if (thread.isAlive()) {
                    thread.interrupt();
                    thread.join(1_000);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return !thread.isAlive();
        }
    }
}
