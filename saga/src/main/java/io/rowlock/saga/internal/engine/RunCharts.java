package io.rowlock.saga.internal.engine;

import io.rowlock.saga.SagaTimeline.Step;
import io.rowlock.saga.SagaView;
import io.rowlock.saga.StepStatus;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Draws runs on their definitions. */
final class RunCharts {
    private RunCharts() {}

    /** Null if that is not registered here. */
    static @Nullable String draw(Definitions definitions, SagaView saga, List<Step> steps) {
        Map<String, StepStatus> stand = new HashMap<>();
        boolean over = saga.status().finished();
        steps.stream()
                .filter(step -> step.branch().isEmpty() && !(over && isOpen(step.status())))
                .forEach(step -> stand.put(step.name(), step.status()));
        return definitions
                .find(saga.definition().name(), saga.definition().version())
                .map(definition -> definition.toMermaid(stand))
                .orElse(null);
    }

    /** What a finished saga has given up. */
    private static boolean isOpen(StepStatus status) {
        return status == StepStatus.WAITING || status == StepStatus.RETRYING;
    }
}
