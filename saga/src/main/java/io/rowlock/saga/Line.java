package io.rowlock.saga;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Nodes one after another while a saga is written down: the main line, or a branch. For one thread. */
final class Line<S> {
    private final SagaDraft<S> saga;
    private final String name;
    private final List<NodeDraft<S>> nodes = new ArrayList<>();

    Line(SagaDraft<S> saga, String name) {
        this.saga = saga;
        this.name = name;
    }

    /** A branch of the same saga. */
    Line<S> branch(String branch) {
        return new Line<>(saga, branch);
    }

    void add(NodeDraft<S> node) {
        nodes.add(node);
    }

    String name() {
        return name;
    }

    SagaDraft<S> saga() {
        return saga;
    }

    boolean isMain() {
        return saga.main() == this;
    }

    boolean isEmpty() {
        return nodes.isEmpty();
    }

    List<NodeDraft<S>> nodes() {
        return nodes;
    }

    /** All nodes, those inside of others too. */
    Stream<NodeDraft<S>> all() {
        return nodes.stream().flatMap(NodeDraft::all);
    }

    void check(Place place, List<String> all) {
        nodes.forEach(node -> checkNode(node, place, all));
    }

    static void checkNode(NodeDraft<?> node, Place place, List<String> all) {
        all.addAll(node.mistakes());
        node.check(place, all);
    }

    /** Adds what is wrong with the names of branches of one node. */
    static void checkNames(NodeDraft<?> node, List<? extends Line<?>> lines, List<String> all) {
        Map<String, Integer> times = new HashMap<>();
        for (Line<?> line : lines) {
            String mistake = Names.mistake(line.name());
            if (mistake != null) {
                all.add(node.title() + " has a branch with a wrong name: it " + mistake);
            }
            if (times.merge(line.name(), 1, Integer::sum) == 2) {
                all.add(node.title() + " has two branches named \"" + line.name() + "\": rename one");
            }
        }
    }

    SagaNode.Path<S> path() {
        return new SagaNode.Path<>(
                name, nodes.stream().<SagaNode<S>>map(NodeDraft::node).toList());
    }
}
