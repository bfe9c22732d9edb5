package io.rowlock.saga;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Draws a run without its definition: what has begun, one after another, as a Mermaid flowchart. */
final class PlainChart {
    private PlainChart() {}

    static String draw(SagaTimeline timeline) {
        SagaView.Definition definition = timeline.saga().definition();
        StringBuilder text = new StringBuilder("flowchart TD\n");
        line(text, "start([\"" + MermaidChart.escaped(definition.name()) + " v" + definition.version() + "\"])");
        String last = "start";
        Set<StepStatus> met = EnumSet.noneOf(StepStatus.class);
        List<SagaTimeline.Step> steps = timeline.steps();
        for (int i = 0; i < steps.size(); i++) {
            SagaTimeline.Step step = steps.get(i);
            if (step.branch().isEmpty()) {
                String id = "n" + (i + 1);
                line(text, id + "[\"" + MermaidChart.escaped(step.name()) + "\"]");
                line(text, last + " --> " + id);
                line(text, "class " + id + " " + word(step.status()));
                met.add(step.status());
                last = id;
            }
        }
        met.forEach(status -> line(text, "classDef " + word(status) + " " + RunColours.of(status)));
        return text.toString();
    }

    private static String word(StepStatus status) {
        return status.name().toLowerCase(Locale.ROOT);
    }

    private static void line(StringBuilder text, String line) {
        text.append("    ").append(line).append('\n');
    }
}
