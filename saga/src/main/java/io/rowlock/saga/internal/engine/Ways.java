package io.rowlock.saga.internal.engine;

import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaNode.Parallel;
import io.rowlock.saga.SagaNode.Path;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import io.rowlock.saga.internal.sql.SagaRow;
import io.rowlock.saga.internal.sql.StepRow;
import io.rowlock.saga.internal.sql.StepRow.StepKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the rows of a saga say that waits for a person: which way it went, and where it stopped. Changes nothing. */
final class Ways {
    private Ways() {}

    /**
     * Whether it was being undone. Before the pivot a failed step, a cancel and a deadline that was told turn it around, in
     * the transaction that records them; from the pivot on nothing does.
     */
    static boolean back(Loaded saga) {
        SagaRow row = saga.saga();
        return row.status() == SagaStatus.COMPENSATION_FAILED
                || (!row.progress().pivoted()
                        && (row.wishes().cancel() != null
                                || row.wishes().told()
                                || saga.steps().stream().anyMatch(Ways::turned)));
    }

    private static boolean turned(StepRow row) {
        return row.status() == StepStatus.FAILED || row.counts().compensations() > 0 || compensated(row.status());
    }

    private static boolean compensated(StepStatus status) {
        return status == StepStatus.COMPENSATING
                || status == StepStatus.COMPENSATED
                || status == StepStatus.COMPENSATION_FAILED;
    }

    /** Whether its compensation is what did not work. */
    static boolean failedBack(StepRow row) {
        return row.status() == StepStatus.COMPENSATION_FAILED || row.status() == StepStatus.COMPENSATING;
    }

    /** The step of that name if the saga stopped at it, in the way it went; else null. */
    static @Nullable StepRow stopped(Loaded saga, String step) {
        boolean back = back(saga);
        return saga.steps().stream()
                .filter(row -> row.key().equals(StepKey.of(step)))
                .filter(row -> back ? failedBack(row) : stoppedForward(saga, row))
                .findFirst()
                .orElse(null);
    }

    /** At what has failed; only where nothing has, as the driver died, at what had begun. */
    private static boolean stoppedForward(Loaded saga, StepRow row) {
        boolean failed = saga.steps().stream().anyMatch(each -> each.status() == StepStatus.FAILED);
        if (failed || row.status() == StepStatus.FAILED) {
            return row.status() == StepStatus.FAILED;
        }
        return open(row)
                && !(joins(saga, row) && saga.steps().stream().anyMatch(each -> open(each) && !joins(saga, each)));
    }

    private static boolean open(StepRow row) {
        return row.status() == StepStatus.STARTED
                || row.status() == StepStatus.RETRYING
                || row.status() == StepStatus.WAITING;
    }

    /** Whether it is a parallel part: its branches have rows of their own. */
    static boolean joins(Loaded saga, StepRow row) {
        return saga.steps().stream()
                .anyMatch(each -> each.key().step().equals(row.key().step())
                        && !each.key().branch().isEmpty());
    }

    /** The row of the branch whose state the step works on; null on the main line. */
    static @Nullable StepRow branchOf(Saga<?> definition, Loaded saga, String step) {
        StepKey branch = branch(definition.nodes(), step, null);
        return branch == null
                ? null
                : saga.steps().stream()
                        .filter(row -> row.key().equals(branch))
                        .findFirst()
                        .orElse(null);
    }

    private static <S> @Nullable StepKey branch(List<SagaNode<S>> line, String step, @Nullable StepKey around) {
        for (SagaNode<S> node : line) {
            if (node.name().equals(step)) {
                return around;
            }
            for (Path<S> path : node.paths()) {
                StepKey inside = node instanceof Parallel<S> ? new StepKey(node.name(), path.name()) : around;
                if (contains(path.nodes(), step)) {
                    return branch(path.nodes(), step, inside);
                }
            }
        }
        return null;
    }

    /** Whether a node of that name is among them, or inside one. */
    static <S> boolean contains(List<SagaNode<S>> line, String step) {
        return line.stream()
                .anyMatch(node -> node.name().equals(step)
                        || node.paths().stream().anyMatch(path -> contains(path.nodes(), step)));
    }
}
