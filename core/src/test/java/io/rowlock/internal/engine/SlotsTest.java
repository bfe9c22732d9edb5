package io.rowlock.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.worker.HandlerBinding;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class SlotsTest {
    private static final HandlerBinding<?> MAIL = FakeJobs.handler("mail", null);
    private static final HandlerBinding<?> SOLO = FakeJobs.handler("solo", 1);

    private final Slots slots = new Slots(Map.of("a", 2, "b", 1));

    @Test
    void a_queue_has_as_many_free_slots_as_its_concurrency_less_what_is_taken() {
        assertThat(slots.free()).isEqualTo(Map.of("a", 2, "b", 1));

        Run job = take("a", MAIL);
        take("b", MAIL);

        assertThat(slots.free()).isEqualTo(Map.of("a", 1));
        slots.release(job);
        assertThat(slots.free()).isEqualTo(Map.of("a", 2));
    }

    @Test
    void a_handler_without_a_limit_is_limited_by_its_queue_only() {
        assertThat(slots.free(MAIL)).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void a_limit_of_a_handler_counts_over_all_queues() {
        Run job = take("a", SOLO);

        assertThat(slots.free(SOLO)).isZero();
        assertThat(slots.release(job)).as("worth a claim").isTrue();
        assertThat(slots.free(SOLO)).isEqualTo(1);
    }

    @Test
    @Tag("P6")
    void at_most_one_suspect_is_here_at_a_time() {
        Run suspect = run(FakeJobs.job("a", MAIL, 1));

        assertThat(slots.freeForSuspect()).isTrue();
        slots.take(suspect);
        assertThat(slots.freeForSuspect()).isFalse();
        slots.release(suspect);
        assertThat(slots.freeForSuspect()).as("its outcome is not recorded yet").isFalse();
        slots.suspectGone();
        assertThat(slots.freeForSuspect()).isTrue();
    }

    @Test
    void quick_handlers_are_claimed_ahead_by_a_tenth_of_a_second_of_work_and_500_jobs_at_most() {
        Run job = take("b", MAIL);
        slots.ran(job.first(), TimeUnit.MILLISECONDS.toNanos(10));
        slots.release(job);
        assertThat(slots.free()).containsEntry("b", 1 + 10);

        Run instant = take("a", MAIL);
        slots.ran(instant.first(), 1);
        slots.release(instant);
        assertThat(slots.free()).containsEntry("a", 2 + 500);
    }

    @Test
    void slow_handlers_are_not_claimed_ahead() {
        Run job = take("b", MAIL);
        slots.ran(job.first(), TimeUnit.SECONDS.toNanos(2));
        slots.release(job);

        assertThat(slots.free()).containsEntry("b", 1);
    }

    @Test
    void one_slow_job_does_not_end_claiming_ahead_but_many_do() {
        for (int i = 0; i < 100; i++) {
            run("b", TimeUnit.MILLISECONDS.toNanos(1));
        }
        assertThat(slots.free().get("b")).isGreaterThan(50);
        for (int i = 0; i < 100; i++) {
            run("b", TimeUnit.SECONDS.toNanos(1));
        }
        assertThat(slots.free()).containsEntry("b", 1);
    }

    @Test
    void a_queue_that_is_claimed_ahead_waits_until_a_claim_is_worth_its_round_trip() {
        run("b", TimeUnit.MILLISECONDS.toNanos(10));
        List<Run> taken = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            taken.add(take("b", MAIL));
        }

        assertThat(slots.free()).as("5 of 11 left: not worth it").doesNotContainKey("b");
        assertThat(slots.release(taken.remove(0))).isTrue();
        assertThat(slots.free()).containsEntry("b", 6);
        taken.forEach(slots::release);
        assertThat(slots.free()).containsEntry("b", 11);
    }

    @Test
    @Tag("P12")
    void a_job_of_a_queue_that_is_not_served_is_a_bug_and_told_so() {
        Run foreign = run(FakeJobs.job("c", MAIL, 0));

        assertThatThrownBy(() -> slots.take(foreign)).isInstanceOf(IllegalStateException.class);
    }

    private Run take(String queue, HandlerBinding<?> handler) {
        Run job = run(FakeJobs.job(queue, handler, 0));
        slots.take(job);
        return job;
    }

    private static Run run(LeasedJob job) {
        return new Run(List.of(job), null, null);
    }

    private void run(String queue, long nanos) {
        Run job = take(queue, MAIL);
        slots.ran(job.first(), nanos);
        slots.release(job);
    }
}
