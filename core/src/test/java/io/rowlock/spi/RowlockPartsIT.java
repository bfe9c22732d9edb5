package io.rowlock.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockEvent.SagaEvent;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.internal.outbox.JacksonCodec;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** With a poll of an hour, what runs in these tests runs because something woke the worker. */
@PostgresTest
final class RowlockPartsIT {
    @Kind("mail")
    private record Mail(int no) {}

    private record SagaMoved(String saga) implements SagaEvent {}

    @Test
    void the_parts_are_what_the_builder_was_given(TestSchema schema) throws Exception {
        PayloadCodec codec = new JacksonCodec();
        RowlockParts parts = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .tablePrefix("app_")
                .codec(codec)
                .maxPayloadBytes(77)
                .build()
                .parts();

        assertThat(parts.schema()).isEqualTo(schema.name());
        assertThat(parts.prefix()).isEqualTo("app_");
        assertThat(parts.codec()).isSameAs(codec);
        assertThat(parts.maxPayloadBytes()).isEqualTo(77);
        try (Connection connection = parts.connections().get()) {
            assertThat(connection.isValid(5)).isTrue();
        }
    }

    @Test
    void without_settings_the_parts_are_the_defaults_and_there_are_no_connections() throws Exception {
        RowlockParts parts = Rowlock.builder().build().parts();

        assertThat(parts.schema()).isEqualTo("public");
        assertThat(parts.prefix()).isEqualTo("rowlock_");
        assertThat(parts.codec().encode(new Mail(1))).isEqualTo("{\"no\":1}");
        assertThat(parts.maxPayloadBytes()).isEqualTo(2 << 20);
        assertThatThrownBy(() -> parts.connections().get())
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("has no data source");
    }

    @Test
    @Tag("P10")
    void the_listener_tells_all_of_an_event_of_another_module_and_throws_nothing() {
        List<RowlockEvent> told = new CopyOnWriteArrayList<>();
        RowlockParts parts = Rowlock.builder()
                .listener(event -> {
                    throw new LinkageError("of the listener");
                })
                .listener(told::add)
                .build()
                .parts();

        parts.listener().on(new SagaMoved("a"));

        assertThat(told).containsExactly(new SagaMoved("a"));
    }

    @Test
    void wake_makes_workers_here_and_in_other_processes_look_at_once(TestSchema schema) throws Exception {
        TestRowlock here = TestRowlock.fresh(schema, builder -> builder.notifications(true));
        Rowlock elsewhere = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .notifications(true)
                .build();
        Duration hour = Duration.ofHours(1);
        try (Worker worker = here.start(w -> w.poll(hour).handle(Mail.class, (mail, job) -> {}))) {
            TestRowlock.soon().until(() -> worker.health().sinceClaim() != null);
            long id = here.enqueue(new Mail(1)).id();
            elsewhere.parts().wake();
            here.awaitState(id, JobState.COMPLETED);

            id = here.enqueue(new Mail(2)).id();
            here.rowlock().parts().wake();
            here.awaitState(id, JobState.COMPLETED);
            assertThat(worker.health().up()).isTrue();
        }
    }
}
