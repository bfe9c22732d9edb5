package io.rowlock.saga;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Timelines as people read them. */
class SagaTimelineTest {
    private static final Instant AT = Instant.parse("2026-11-30T12:00:00.123456Z");

    private final SagaTimeline timeline = new SagaTimeline(
            new SagaView(
                    "42",
                    new SagaView.Definition("trip", 3),
                    new SagaView.Keys("Order:42", null, null),
                    SagaStatus.STUCK,
                    new SagaView.Course("b", true, "b: no\nroom\u001b[2J", null),
                    new SagaView.Times(AT, AT, null, null),
                    null,
                    "{}"),
            List.of(
                    new SagaTimeline.Step(
                            "a", "", StepStatus.COMPLETED, 1, 0, null, null, new SagaTimeline.StepTimes(AT, AT, null)),
                    new SagaTimeline.Step(
                            "b\"",
                            "",
                            StepStatus.FAILED,
                            12,
                            0,
                            "no\u202eroom",
                            null,
                            new SagaTimeline.StepTimes(AT, AT, null))),
            List.of(),
            List.of(new SagaTimeline.Operation("retry", null, AT, "ann", "why not")),
            null);

    @Test
    void the_text_is_a_table_that_moves_no_cursor() {
        assertThat(timeline.toText()).isEqualTo("""
                saga 42 (trip v3): stuck
                key Order:42
                because b: no room [2J

                step  status     tries  undone  started                   finished                  error
                a     completed  1      0       2026-11-30T12:00:00.123Z  2026-11-30T12:00:00.123Z  -
                b"    failed     12     0       2026-11-30T12:00:00.123Z  2026-11-30T12:00:00.123Z  no room

                operation  step  at                        by   why
                retry      -     2026-11-30T12:00:00.123Z  ann  why not
                """);
    }

    @Test
    void without_its_definition_the_chart_shows_what_has_begun() {
        assertThat(timeline.toMermaid())
                .contains("n1[\"a\"]", "n2[\"b#34;\"]", "n1 --> n2", "class n2 failed", "classDef failed fill:#ffc9c9");
    }
}
