package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.Shop;
import io.rowlock.examples.orders.demo.StopSignal.Stopped;
import io.rowlock.job.JobState;
import java.time.Duration;
import java.util.Map;

/** Sends a file of orders through a running shop and waits until nothing goes on any more. For one thread. */
final class DemoRun {
    private static final Duration STANDSTILL = Duration.ofSeconds(60);
    private static final Duration LOOK = Duration.ofMillis(50);

    private final Shop shop;
    private final World world;
    private final Progress progress;
    private final OrderSender sender;
    private final StopSignal signal;
    private int orders;
    private int sent;

    DemoRun(Shop shop, World world, OrderSender sender, Progress progress, StopSignal signal) {
        this.shop = shop;
        this.world = world;
        this.sender = sender;
        this.progress = progress;
        this.signal = signal;
    }

    void send(OrderFile file) throws InterruptedException, Stopped {
        orders = file.entries().size();
        for (OrderFile.Entry entry : file.entries()) {
            signal.check();
            sender.send(entry);
            sent++;
            if (progress.due()) {
                show(shop.rowlock().jobs().counts());
            }
        }
    }

    /** Returns when no job waits or runs and the carrier has told all, or when nothing has changed for a minute: a check then says what is left. */
    void awaitNothingDue() throws InterruptedException, Stopped {
        Map<JobState, Long> before = Map.of();
        long changedAt = System.nanoTime();
        while (System.nanoTime() - changedAt < STANDSTILL.toNanos()) {
            boolean told = world.carrier().reports().allTaken(); // asked first: what was told may have made a job
            Map<JobState, Long> now = shop.rowlock().jobs().counts();
            if (told && open(now) == 0) {
                show(now);
                break;
            }
            if (progress.due()) {
                show(now);
            }
            if (!now.equals(before)) {
                before = now;
                changedAt = System.nanoTime();
            }
            signal.check();
            Thread.sleep(LOOK.toMillis());
        }
    }

    private void show(Map<JobState, Long> jobs) {
        progress.show("Orders: %d of %d sent, %d rolled back. Jobs: %d done, %d to do, %d dead"
                .formatted(
                        sent,
                        orders,
                        sender.refusedSoFar(),
                        jobs.getOrDefault(JobState.COMPLETED, 0L),
                        open(jobs),
                        jobs.getOrDefault(JobState.DEAD, 0L)));
    }

    private static long open(Map<JobState, Long> jobs) {
        return jobs.getOrDefault(JobState.READY, 0L) + jobs.getOrDefault(JobState.PARKED, 0L);
    }
}
