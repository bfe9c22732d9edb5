package io.rowlock.worker;

import io.rowlock.schedule.Schedule;
import io.rowlock.spi.WorkerExtension;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What {@link WorkerConfig} said.
 *
 * @param name the first part of the worker's id
 * @param queues the queues served, with how many jobs of each run at once
 * @param handlers a handler for each kind
 * @param timing how long and how often
 * @param retention how long rows are kept
 * @param executor runs the handlers, or null: platform threads of the worker's own
 * @param extensions what modules beside core do in the worker
 * @param schedules declared when the worker starts
 */
public record WorkerSettings(
        String name,
        Map<String, Integer> queues,
        List<HandlerBinding<?>> handlers,
        Timing timing,
        Retention retention,
        @Nullable Executor executor,
        List<WorkerExtension> extensions,
        List<Schedule<?>> schedules) {

    /**
     * How long and how often.
     *
     * @param lease how long a claim holds without a heartbeat
     * @param poll how often an idle worker asks for jobs
     */
    public record Timing(Duration lease, Duration poll) {}

    public WorkerSettings {
        queues = Map.copyOf(queues);
        handlers = List.copyOf(handlers);
        extensions = List.copyOf(extensions);
        schedules = List.copyOf(schedules);
    }
}
