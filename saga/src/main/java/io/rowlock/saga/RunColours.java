package io.rowlock.saga;

import org.jspecify.annotations.Nullable;

/** How the parts of a run are drawn: green is done, yellow goes on, red needs a person, violet is undone, blue is by hand. */
final class RunColours {
    private RunColours() {}

    static String of(StepStatus status) {
        return switch (status) {
            case STARTED, RETRYING, WAITING -> "fill:#fff3bf";
            case COMPLETED -> "fill:#d3f9d8";
            case FAILED, COMPENSATION_FAILED -> "fill:#ffc9c9";
            case COMPENSATING -> "fill:#ffe8cc";
            case COMPENSATED -> "fill:#e5dbff";
            case SKIPPED -> "fill:#e9ecef";
            case RESOLVED -> "fill:#d0ebff";
        };
    }

    /** Whether the compensation stands so, too. */
    static boolean goesBack(@Nullable StepStatus status) {
        return status == StepStatus.COMPENSATING
                || status == StepStatus.COMPENSATED
                || status == StepStatus.COMPENSATION_FAILED;
    }
}
