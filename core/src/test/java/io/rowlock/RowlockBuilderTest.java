package io.rowlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.PayloadCodec;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class RowlockBuilderTest {
    private static final ConnectionSource NONE = () -> {
        throw new SQLException("nobody there", "08001");
    };

    @Kind("mail")
    private record Mail(int no) {}

    @Kind("mail")
    private record OtherMail(int no) {}

    static Stream<Arguments> refused() {
        PayloadCodec codec = new io.rowlock.internal.outbox.JacksonCodec();
        return Stream.of(
                refusal("dataSource must not be null", b -> b.dataSource(null)),
                refusal("connections must not be null", b -> b.connections(null)),
                refusal("connections is set twice", b -> b.connections(NONE).connections(NONE)),
                refusal("schema must be a lower-case SQL identifier", b -> b.schema("Shop")),
                refusal("not beginning with a digit, got ''", b -> b.schema("")),
                refusal("not beginning with a digit, got null", b -> b.schema(null)),
                refusal("schema is set twice", b -> b.schema("shop").schema("shop")),
                refusal("tablePrefix must be a lower-case SQL identifier", b -> b.tablePrefix("a-b")),
                refusal("table-prefix is set twice", b -> b.tablePrefix("a_").tablePrefix("b_")),
                refusal("codec must not be null", b -> b.codec(null)),
                refusal("codec is set twice", b -> b.codec(codec).codec(codec)),
                refusal("maxPayloadBytes must be between 1 and 67108864, got 0", b -> b.maxPayloadBytes(0)),
                refusal("got 67108865", b -> b.maxPayloadBytes((64 << 20) + 1)),
                refusal(
                        "max-payload-bytes is set twice",
                        b -> b.maxPayloadBytes(1).maxPayloadBytes(2)),
                refusal("afterCommit must not be null", b -> b.afterCommit(null)),
                refusal("notifications is set twice", b -> b.notifications(true).notifications(false)),
                refusal(
                        "Notifications are sent over a connection of Rowlock's own; call dataSource(...) too",
                        b -> b.notifications(true).build()),
                refusal("listener must not be null", b -> b.listener(null)),
                refusal("unit must not be null", b -> b.persistenceUnit(null)),
                refusal(
                        "No adapter for java.lang.Object on the class path; add rowlock-hibernate",
                        b -> b.persistenceUnit(new Object())));
    }

    @Test
    void a_worker_without_a_configuration_is_refused() {
        Rowlock rowlock = Rowlock.builder().connections(NONE).build();

        assertThatThrownBy(() -> rowlock.worker(null))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("configuration of a worker must not be null");
        assertThatThrownBy(() -> rowlock.handCrankedWorker(null)).isInstanceOf(InvalidUseException.class);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refused")
    void a_wrong_setting_is_refused_with_a_message_that_says_what_is_wrong(
            String message, Consumer<RowlockBuilder> setting) {
        RowlockBuilder builder = Rowlock.builder();

        assertThatThrownBy(() -> setting.accept(builder))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining(message);
    }

    @Test
    void a_worker_for_a_name_that_stands_for_another_payload_type_is_refused() {
        Rowlock rowlock = Rowlock.builder().connections(NONE).build();
        rowlock.worker(w -> w.handle(Mail.class, (mail, job) -> {}));

        assertThatThrownBy(() -> rowlock.worker(w -> w.handle(OtherMail.class, (mail, job) -> {})))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("Kind mail stands for two payload types");
        assertThatThrownBy(() -> rowlock.outbox()
                        .enqueueAll(
                                (java.sql.Connection) java.lang.reflect.Proxy.newProxyInstance(
                                        getClass().getClassLoader(),
                                        new Class<?>[] {java.sql.Connection.class},
                                        (proxy, method, args) -> {
                                            throw new SQLException("no SQL is needed to refuse this");
                                        }),
                                List.of(JobRequest.of(new OtherMail(1)))))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("Kind mail stands for two payload types");
    }

    @Test
    void without_a_data_source_a_worker_is_refused_at_its_start() {
        Worker worker = Rowlock.builder().build().worker(w -> w.handle(Mail.class, (mail, job) -> {}));

        assertThatThrownBy(worker::start)
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("has no data source; call dataSource(...)");
        assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.STOPPED);
    }

    @Test
    void a_worker_that_was_never_started_can_be_stopped_and_then_never_starts() {
        Worker worker = Rowlock.builder()
                .connections(NONE)
                .build()
                .worker(w -> w.name("night").handle(Mail.class, (mail, job) -> {}));

        assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.NEW);
        assertThat(worker.health().up()).isFalse();
        worker.stop(Duration.ZERO);

        assertThat(worker.health().state()).isEqualTo(WorkerHealth.State.STOPPED);
        assertThatThrownBy(worker::start)
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("A worker is started once; make a new one (worker=night-");
        assertThatThrownBy(() -> worker.stop(Duration.ofSeconds(-1)))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("grace must not be null or negative, got PT-1S");
        assertThatThrownBy(() -> worker.stop(null)).isInstanceOf(InvalidUseException.class);
    }

    @Test
    void every_worker_has_an_id_of_its_own_even_under_one_name() {
        Rowlock rowlock = Rowlock.builder().connections(NONE).build();

        String one = rowlock.worker(w -> w.name("w").handle(Mail.class, (mail, job) -> {}))
                .id();
        String two = rowlock.worker(w -> w.name("w").handle(Mail.class, (mail, job) -> {}))
                .id();

        assertThat(one).startsWith("w-").isNotEqualTo(two).hasSizeLessThanOrEqualTo(200);
        assertThat(rowlock.worker(w -> w.name("n".repeat(100)).handle(Mail.class, (mail, job) -> {}))
                        .id())
                .as("fits the column")
                .hasSizeLessThanOrEqualTo(200);
    }

    private static Arguments refusal(String message, Consumer<RowlockBuilder> setting) {
        return Arguments.of(message, setting);
    }
}
