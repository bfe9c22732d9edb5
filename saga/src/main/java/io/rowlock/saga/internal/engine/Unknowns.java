package io.rowlock.saga.internal.engine;

import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaNode.Choose;
import io.rowlock.saga.SagaNode.Parallel;
import io.rowlock.saga.SagaNode.Path;
import io.rowlock.saga.SagaNode.Step;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import io.rowlock.saga.internal.sql.StepRow;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What of a saga has begun and is not in its definition, or not as what it began: changed under the same version. Nobody guesses then. */
final class Unknowns {
    private Unknowns() {}

    /** In words; empty if all is known. */
    static Set<String> of(Saga<?> definition, Loaded saga) {
        Set<String> unknown = new TreeSet<>();
        for (StepRow row : saga.steps()) {
            definition
                    .node(row.key().step())
                    .ifPresentOrElse(
                            node -> look(node, row, saga.steps(), unknown),
                            () -> unknown.add("step " + row.key().step()));
        }
        return unknown;
    }

    private static void look(SagaNode<?> node, StepRow row, List<StepRow> rows, Set<String> unknown) {
        Set<String> paths = node.paths().stream().map(Path::name).collect(Collectors.toSet());
        String branch = row.key().branch();
        if (!branch.isEmpty()) {
            if (!(node instanceof Parallel<?>) || !paths.contains(branch)) {
                unknown.add("branch " + branch + " of " + node.name());
            }
            return;
        }
        String chosen = row.outcome().chosen();
        if (node instanceof Choose<?> && chosen != null && !paths.contains(chosen)) {
            unknown.add("option " + chosen + " of " + node.name());
        }
        boolean waits = row.status() == StepStatus.WAITING;
        boolean tries = row.status() == StepStatus.STARTED || row.status() == StepStatus.RETRYING;
        if (node instanceof Step<?> ? waits : tries) {
            unknown.add(node.name() + (waits ? " as something that waits" : " as a step"));
        }
        if (waits) {
            lookInside(node, paths, rows, unknown);
        }
    }

    /** A parallel part that is open has all its branches, and nothing else has any. */
    private static void lookInside(SagaNode<?> node, Set<String> paths, List<StepRow> rows, Set<String> unknown) {
        Set<String> begun = rows.stream()
                .filter(row -> row.key().step().equals(node.name()))
                .map(row -> row.key().branch())
                .filter(branch -> !branch.isEmpty())
                .collect(Collectors.toSet());
        Set<String> missing = new HashSet<>(node instanceof Parallel<?> ? paths : Set.of());
        missing.removeAll(begun);
        missing.forEach(branch -> unknown.add(node.name() + " without branch " + branch));
    }
}
