package io.rowlock.saga.internal.engine;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Does one thing for many threads at once, without a thread of its own: whoever gets the turn does it for all who have
 * asked meanwhile. While one transaction commits, the next ones gather (group commit). Who is answered goes on at once, and
 * does not wait for whoever has the next turn: or few would have something to ask by then.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 */
final class Turns<Q, A> {
    /** The SQLSTATE of an internal error: time cures none of these. */
    private static final String INTERNAL = "XX000";

    private final AtomicBoolean taken = new AtomicBoolean();
    private final Queue<Asked<Q, A>> asked = new ConcurrentLinkedQueue<>();
    private final int most;
    private final Work<Q, A> work;

    /** Answers all that were asked, or throws: then all of them get that. */
    @FunctionalInterface
    interface Work<Q, A> {
        void answer(List<Asked<Q, A>> together) throws SQLException;
    }

    Turns(int most, Work<Q, A> work) {
        this.most = most;
        this.work = work;
    }

    /** One thread's question. */
    static final class Asked<Q, A> {
        private final Q question;
        private final Thread asker = Thread.currentThread();
        private volatile @Nullable A answer;
        private volatile @Nullable SQLException failure;

        Asked(Q question) {
            this.question = question;
        }

        Q question() {
            return question;
        }

        void answer(A given) {
            answer = given;
        }

        void fail(SQLException because) {
            failure = because;
        }

        private boolean open() {
            return answer == null && failure == null;
        }
    }

    /** Blocks until it is answered; an interrupt is kept for later. */
    A ask(Q question) throws SQLException {
        Asked<Q, A> mine = new Asked<>(question);
        asked.add(mine);
        boolean interrupted = false;
        while (mine.open()) {
            if (taken.compareAndSet(false, true)) {
                haveTurn(mine);
            } else {
                LockSupport.park(this); // whoever had the turn wakes the first who has asked
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        SQLException failure = mine.failure;
        if (failure != null) {
            throw new SQLException(failure.getMessage(), failure.getSQLState(), failure);
        }
        A answer = mine.answer;
        if (answer == null) {
            throw new IllegalStateException("A question has no answer");
        }
        return answer;
    }

    /*
     * Who asks while it is taken finds it free afterwards, or is seen here: the question is there before the turn is tried. The
     * next turn begins before those of this one are woken, a hundred calls of the system, which nobody else is to wait for.
     */
    private void haveTurn(Asked<Q, A> mine) {
        List<Asked<Q, A>> together = List.of();
        try {
            if (mine.open()) {
                together = gathered();
                answer(together);
            }
        } finally {
            taken.set(false);
            Asked<Q, A> first = asked.peek();
            if (first != null) {
                LockSupport.unpark(first.asker);
            }
            together.forEach(each -> LockSupport.unpark(each.asker));
        }
    }

    private List<Asked<Q, A>> gathered() {
        List<Asked<Q, A>> together = new ArrayList<>();
        for (Asked<Q, A> next = asked.poll(); next != null; next = together.size() < most ? asked.poll() : null) {
            together.add(next);
        }
        return together;
    }

    private void answer(List<Asked<Q, A>> together) {
        try {
            work.answer(together);
        } catch (SQLException e) {
            together.stream().filter(Asked::open).forEach(each -> each.fail(e));
        } catch (RuntimeException | Error e) {
            SQLException failure = new SQLException("Sagas could not be read or recorded: " + e, INTERNAL, e);
            together.stream().filter(Asked::open).forEach(each -> each.fail(failure));
        }
        SQLException unanswered = new SQLException("A saga was neither read nor recorded", INTERNAL);
        together.stream().filter(Asked::open).forEach(each -> each.fail(unanswered));
    }
}
