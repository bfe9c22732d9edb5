package io.rowlock.saga;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What happened to one saga, read at one moment. Immutable. What began comes in the order in which it began.
 *
 * @param saga how it stands
 * @param steps what it has begun: steps, waits, choices, parallel parts and their branches
 * @param signals the outside events that reached it, the oldest first
 * @param operations what people did to it, the oldest first; at most the first 1,000
 * @param chart its definition as a Mermaid flowchart, coloured by how its steps stand; null where its version is
 *     not registered in this process
 */
public record SagaTimeline(
        SagaView saga,
        List<Step> steps,
        List<Signal> signals,
        List<Operation> operations,
        @Nullable String chart) {
    public SagaTimeline {
        steps = List.copyOf(steps);
        signals = List.copyOf(signals);
        operations = List.copyOf(operations);
    }

    /**
     * What has begun.
     *
     * @param name the name in the definition
     * @param branch of a branch of a parallel part its name; else empty
     * @param status how it stands
     * @param attempts how often it was tried
     * @param compensations how often its compensation was tried
     * @param error why the last attempt failed, or by whom it was skipped or resolved; or null
     * @param dueAt when it is tried again, or its wait is over; or null
     * @param times when
     */
    public record Step(
            String name,
            String branch,
            StepStatus status,
            int attempts,
            int compensations,
            @Nullable String error,
            @Nullable Instant dueAt,
            StepTimes times) {}

    /**
     * By the database's clock.
     *
     * @param started when its first attempt started
     * @param finished when it ended; or null
     * @param compensated when it was undone; or null
     */
    public record StepTimes(
            Instant started,
            @Nullable Instant finished,
            @Nullable Instant compensated) {}

    /**
     * An outside event.
     *
     * @param name its name
     * @param received when it was recorded
     * @param consumedBy the step that it moved; null: none, yet
     */
    public record Signal(
            String name, Instant received, @Nullable String consumedBy) {}

    /**
     * What somebody did.
     *
     * @param what the operation
     * @param step the step it was about; or null
     * @param at when
     * @param who the person or tool
     * @param why the reason
     */
    public record Operation(String what, @Nullable String step, Instant at, String who, String why) {}

    /**
     * A table for a terminal.
     *
     * @return lines of text; control characters of errors are replaced by spaces
     */
    public String toText() {
        return new TimelineText(this).write();
    }

    /**
     * The definition as a flowchart in which each part that has begun has the class of its status, such as {@code completed},
     * with a colour. Where the saga's version is not registered in this process: what has begun, one after another.
     *
     * @return lines of Mermaid
     * @see Saga#toMermaid(java.util.Map)
     */
    public String toMermaid() {
        return chart == null ? PlainChart.draw(this) : chart;
    }
}
