package io.rowlock.saga;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Draws one saga as a Mermaid flowchart. For one thread and one drawing. */
final class MermaidChart<S> {
    private static final String PLAIN = " -_.,()/";

    private final Saga<S> saga;
    private final StringBuilder text = new StringBuilder("flowchart TD\n");
    private final List<String> pivots = new ArrayList<>();
    private final List<String> undos = new ArrayList<>();
    private final Map<String, StepStatus> run;
    private final Map<StepStatus, List<String>> stand = new EnumMap<>(StepStatus.class);
    private int number;

    /** The end of an arrow that has no head yet, and what is written on it. */
    private record Tail(String from, @Nullable String label) {}

    /** @param run how the steps of one run stand; none for the definition alone */
    MermaidChart(Saga<S> saga, Map<String, StepStatus> run) {
        this.saga = saga;
        this.run = run;
    }

    String draw() {
        line("start([\"" + title() + "\"])");
        List<Tail> ends = walk(saga.nodes(), List.of(new Tail("start", null)));
        line("done([\"completed\"])");
        connect(ends, "done");
        mark(pivots, "pivot", "stroke-width:4px");
        mark(undos, "undo", "stroke-dasharray:4 4");
        stand.forEach((status, ids) -> mark(ids, status.name().toLowerCase(Locale.ROOT), RunColours.of(status)));
        return text.toString();
    }

    private String title() {
        StringBuilder title = new StringBuilder(escaped(saga.name()) + " v" + saga.version());
        saga.starters()
                .forEach(starter -> title.append("<br/>started by ")
                        .append(escaped(starter.kind().name())));
        saga.deadline().ifPresent(limit -> title.append("<br/>within ").append(DurationText.of(limit)));
        return title.toString();
    }

    private List<Tail> walk(List<SagaNode<S>> nodes, List<Tail> into) {
        List<Tail> ends = into;
        for (SagaNode<S> node : nodes) {
            ends = draw(node, ends);
        }
        return ends;
    }

    private List<Tail> draw(SagaNode<S> node, List<Tail> into) {
        String id = "n" + ++number;
        String name = escaped(node.name());
        line(id + shape(node, name));
        connect(into, id);
        stands(id, run.get(node.name()));
        if (node instanceof SagaNode.Step<S> step) {
            if (step.pivot()) {
                pivots.add(id);
            }
            undo(id, node.name(), step.compensation());
        } else if (node instanceof SagaNode.Child<S, ?> child) {
            undo(id, node.name(), child.compensation());
        } else if (node instanceof SagaNode.Choose<S> choose) {
            return branches(id, choose.paths());
        } else if (node instanceof SagaNode.Parallel<S> parallel) {
            String join = "j" + id.substring(1);
            List<Tail> ends = branches(id, parallel.paths());
            line(join + "[\\\"join " + name + "\"/]");
            connect(ends, join);
            return List.of(new Tail(join, null));
        }
        return List.of(new Tail(id, null));
    }

    private List<Tail> branches(String id, List<SagaNode.Path<S>> paths) {
        List<Tail> ends = new ArrayList<>();
        for (SagaNode.Path<S> path : paths) {
            ends.addAll(walk(path.nodes(), List.of(new Tail(id, escaped(path.name())))));
        }
        return ends;
    }

    private void undo(String id, String name, @Nullable Compensation<S> compensation) {
        if (compensation != null) {
            String undo = "u" + id.substring(1);
            line(undo + box("undo " + escaped(name), !(compensation.work() instanceof Compensation.Called)));
            line(id + " -.-> " + undo);
            undos.add(undo);
            StepStatus status = run.get(name);
            stands(undo, RunColours.goesBack(status) ? status : null);
        }
    }

    private void stands(String id, @Nullable StepStatus status) {
        if (status != null) {
            stand.computeIfAbsent(status, none -> new ArrayList<>()).add(id);
        }
    }

    private static <S> String shape(SagaNode<S> node, String name) {
        if (node instanceof SagaNode.Step<S> step) {
            return step.pivot()
                    ? "{{\"" + name + "<br/>pivot\"}}"
                    : box(name, !(step.work() instanceof StepWork.Called));
        } else if (node instanceof SagaNode.Await<S, ?> await) {
            return ">\"await " + name + "<br/>" + DurationText.of(await.within()) + ", else " + word(await.otherwise())
                    + "\"]";
        } else if (node instanceof SagaNode.Sleep<S> sleep) {
            return "(\"" + name + "<br/>sleep " + word(sleep.time()) + "\")";
        } else if (node instanceof SagaNode.Parallel) {
            return "[/\"" + name + "\"\\]";
        } else if (node instanceof SagaNode.Choose) {
            return "{\"" + name + "\"}";
        }
        SagaNode.Child<S, ?> child = (SagaNode.Child<S, ?>) node;
        return "[[\"" + name + "<br/>saga " + escaped(child.type().name()) + "\"]]";
    }

    private static String box(String label, boolean transactional) {
        return transactional ? "[(\"" + label + "\")]" : "[\"" + label + "\"]";
    }

    private static String word(Escalation<?> escalation) {
        if (escalation instanceof Escalation.Escalate) {
            return "escalate";
        }
        return escalation instanceof Escalation.Fail ? "fail" : "continue";
    }

    private static String word(SleepTime<?> time) {
        if (time instanceof SleepTime.Fixed<?> fixed) {
            return DurationText.of(fixed.duration());
        }
        return time instanceof SleepTime.Until ? "until an instant of the state" : "as the state says";
    }

    private void connect(List<Tail> tails, String to) {
        for (Tail tail : tails) {
            line(tail.from() + (tail.label() == null ? " --> " : " -->|\"" + tail.label() + "\"| ") + to);
        }
    }

    /** Classes are given on lines of their own: a colon beside a label could change how Mermaid reads its escapes. */
    private void mark(List<String> ids, String name, String style) {
        if (!ids.isEmpty()) {
            line("classDef " + name + " " + style);
            line("class " + String.join(",", ids) + " " + name);
        }
    }

    private void line(String line) {
        text.append("    ").append(line).append('\n');
    }

    /** Letters, digits and a few signs as they are, everything else as Mermaid's {@code #number;}. */
    static String escaped(String name) {
        StringBuilder escaped = new StringBuilder();
        name.codePoints().forEach(point -> {
            if (Character.isLetterOrDigit(point) || PLAIN.indexOf(point) >= 0) {
                escaped.appendCodePoint(point);
            } else {
                escaped.append('#').append(point).append(';');
            }
        });
        return escaped.toString();
    }
}
