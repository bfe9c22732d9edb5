package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.sql.LimitSql.Room;
import io.rowlock.job.QueueLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a worker believes to have of a queue's limits, when transactions fail and rows are locked. */
final class GatedQueueTest {
    private static final long POLL = TimeUnit.SECONDS.toNanos(1);
    private static final Instant WINDOW = Instant.parse("2026-01-01T00:00:00Z");

    private final Slots slots = new Slots(Map.of("default", 4));
    private final GatedQueue queue = new GatedQueue("default", slots, new QueueRunner(4, Runnable::run, run -> {}));

    @Test
    void it_runs_nothing_before_it_holds_slots_and_then_no_more_than_there_is_room_for() {
        queue.set(QueueLimits.none().running(10));
        assertThat(slots.free()).isEmpty();

        asksWith(new Room(3, null, 0, null, null));

        assertThat(queue.holdsSlots()).isTrue();
        assertThat(slots.free()).containsEntry("default", 3);
    }

    @Test
    void an_answer_whose_transaction_failed_is_not_taken_for_that_of_the_next_one() {
        queue.set(QueueLimits.none().running(10));
        assertThat(queue.plan(System.nanoTime(), 4)).isTrue();
        queue.answer(new Room(3, null, 0, null, null), System.nanoTime()); // the commit fails

        assertThat(queue.plan(System.nanoTime(), 4)).isTrue();
        queue.settle(POLL); // the row is locked: no answer

        assertThat(queue.holdsSlots()).isFalse();
        assertThat(slots.free()).isEmpty();
        assertThat(queue.isBusy()).isTrue();
    }

    @Test
    void tokens_that_were_to_be_given_back_in_vain_are_asked_for_anew() {
        queue.set(QueueLimits.none().rate(1_000, Duration.ofDays(1)));
        asksWith(window(1_000));
        assertThat(queue.tokens(System.nanoTime())).isPositive();
        queue.spend(queue.tokens(System.nanoTime()) - 1);
        assertThat(queue.stop()).isTrue();
        queue.settle(POLL); // the row is locked: no answer
        queue.spend(1);

        long later = System.nanoTime() + POLL;
        assertThat(queue.plan(later, 2)).isTrue();
        GatedQueue.Grant grant = queue.answer(window(1_000), later);

        assertThat(grant.tokens()).isPositive();
    }

    @Test
    void tokens_that_were_not_used_for_a_second_are_given_back_once_and_only_to_their_window() {
        queue.set(QueueLimits.none().rate(1_000, Duration.ofDays(1)));
        asksWith(window(1_000));
        int taken = queue.tokens(System.nanoTime());
        queue.spend(1);
        assertThat(queue.plan(System.nanoTime(), 0)).isFalse();

        long later = System.nanoTime() + POLL;
        assertThat(queue.plan(later, 0)).isTrue();
        assertThat(queue.answer(window(0), later).tokens()).isEqualTo(1 - taken);
        queue.plan(later, 0); // the commit failed
        assertThat(queue.answer(window(0), later).tokens()).isZero();
        queue.settle(POLL);

        asksWith(window(1_000));
        assertThat(queue.plan(System.nanoTime() + POLL, 0)).isTrue();
        Room next = new Room(null, 1_000, 0, WINDOW.plus(Duration.ofDays(1)), Duration.ofHours(1));
        assertThat(queue.answer(next, later).tokens()).isZero();
    }

    @Test
    void a_worker_whose_tokens_were_of_no_use_lets_others_have_them_for_a_second() {
        queue.set(QueueLimits.none().rate(1_000, Duration.ofDays(1)));
        asksWith(window(1_000));

        queue.plan(System.nanoTime() + POLL, 4);
        queue.answer(window(0), System.nanoTime());
        queue.settle(POLL);

        assertThat(queue.wantsMore(System.nanoTime())).isFalse();
        assertThat(queue.wantsMore(System.nanoTime() + POLL)).isTrue();
    }

    @Test
    void jobs_that_did_not_begin_leave_their_tokens_to_the_window_in_which_they_were_claimed() {
        queue.set(QueueLimits.none().rate(1_000, Duration.ofDays(1)));
        asksWith(window(1_000));
        int taken = queue.tokens(System.nanoTime());
        assertThat(queue.spend(3)).isEqualTo(WINDOW);

        queue.handedBack(2, WINDOW);
        queue.handedBack(1, WINDOW.minusSeconds(1));

        assertThat(queue.tokens(System.nanoTime())).isEqualTo(taken - 1);
    }

    @Test
    void a_worker_that_holds_more_than_there_is_room_for_gives_way() {
        queue.set(QueueLimits.none().running(10));
        asksWith(new Room(4, null, 0, null, null));

        queue.plan(System.nanoTime(), 4);
        queue.answer(new Room(1, null, 0, null, null), System.nanoTime());
        queue.settle(POLL);

        assertThat(slots.free()).containsEntry("default", 1);
    }

    @Test
    void a_worker_that_stood_still_claims_nothing_before_it_has_looked_what_it_still_has() {
        queue.set(QueueLimits.none().running(10));
        asksWith(new Room(4, null, 0, null, null));
        assertThat(queue.plan(System.nanoTime(), 0)).isFalse();

        queue.lookFirst();
        assertThat(slots.free()).isEmpty();
        assertThat(queue.plan(System.nanoTime(), 0)).isTrue();
        queue.settle(POLL); // the row is locked: no answer
        assertThat(slots.free()).isEmpty();

        assertThat(queue.plan(System.nanoTime(), 0)).isTrue();
        queue.answer(new Room(1, null, 0, null, null), System.nanoTime());
        queue.settle(POLL);
        assertThat(slots.free()).containsEntry("default", 1);
    }

    private void asksWith(Room room) {
        long now = System.nanoTime();
        assertThat(queue.wantsMore(now)).isTrue();
        assertThat(queue.plan(now, 4)).isTrue();
        queue.answer(room, now);
        queue.settle(POLL);
    }

    private static Room window(int tokens) {
        return new Room(null, tokens, 0, WINDOW, Duration.ofHours(1));
    }
}
