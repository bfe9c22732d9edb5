package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.PermanentFailure;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.sql.Connection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a person does to sagas from a terminal that has none of their definitions; a worker that has them goes on. */
final class SagaCommandsIT {
    private boolean broken = true;
    private TestSchema schema;
    private Terminal terminal;
    private HandCrankedWorker worker;

    record Trip(String traveller) {}

    @BeforeEach
    void stick() throws Exception {
        schema = TestSchema.create(TestPostgres.shared(), "clisagas");
        terminal = new Terminal(schema);
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
        SagaDefinition<Trip> trip = saga -> saga.named("trip", Trip.class)
                .version(1)
                .businessKey(Trip::traveller)
                .pivot("pay")
                .call((state, step) -> {
                    if (broken) {
                        throw new PermanentFailure("card refused");
                    }
                    return state;
                })
                .build();
        SagaEngine engine = SagaEngine.builder(rowlock).register(trip).build();
        worker = rowlock.handCrankedWorker(engine::on);
        try (Connection connection = schema.begin()) {
            engine.sagas().start(connection, SagaType.named("trip", Trip.class), "42", new Trip("ada"));
            connection.commit();
        }
        worker.drain();
    }

    @AfterEach
    void drop() throws Exception {
        worker.close();
        schema.close();
    }

    private String status() throws Exception {
        return schema.one(String.class, "SELECT status FROM rowlock_saga WHERE id = '42'")
                .orElseThrow();
    }

    @Test
    void a_saga_is_found_shown_and_told() throws Exception {
        assertThat(terminal.run("sagas", "find", "--needs-person", "--json")).isZero();
        assertThat(terminal.json().get(0).get("id").asText()).isEqualTo("42");
        assertThat(terminal.json().get(0).get("status").asText()).isEqualTo("stuck");
        assertThat(terminal.run("sagas", "find", "--status", "completed")).isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.run("sagas", "find", "--status", "compensation-failed"))
                .isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.run("sagas", "find", "--status", "asleep")).isEqualTo(ExitCode.USAGE);
        assertThat(terminal.err()).contains("stuck", "compensation-failed", "asleep");
        assertThat(terminal.run("sagas", "find", "--business-key", "ada")).isZero();

        assertThat(terminal.run("sagas", "show", "42")).isZero();
        assertThat(terminal.out()).contains("stuck", "pay").doesNotContain("traveller");
        assertThat(terminal.run("sagas", "show", "42", "--payload")).isZero();
        assertThat(terminal.out()).contains("traveller");
        assertThat(terminal.run("sagas", "show", "43")).isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.run("sagas", "show", "43", "--json")).isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.json().get("answer").asText()).isEqualTo("unknown");
        assertThat(terminal.run("sagas", "timeline", "43", "--json")).isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.json().isArray()).isTrue();
        assertThat(terminal.json()).isEmpty();

        assertThat(terminal.run("sagas", "timeline", "42")).isZero();
        assertThat(terminal.out()).contains("pay", "card refused");
        assertThat(terminal.run("sagas", "timeline", "42", "--json")).isZero();
        assertThat(terminal.json().get(0).get("name").asText()).isEqualTo("pay");
    }

    @Test
    void a_stuck_saga_is_retried_and_a_worker_goes_on_with_it() throws Exception {
        broken = false;

        assertThat(terminal.run("sagas", "retry", "42", "--why", "card works again"))
                .isZero();
        worker.drain();

        assertThat(status()).isEqualTo("completed");
        assertThat(schema.one(String.class, "SELECT what || ' by ' || who FROM rowlock_operation"))
                .hasValue("retry by tester");
        assertThat(terminal.run("sagas", "retry", "42", "--why", "again")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("finished");
    }

    @Test
    void all_that_wait_for_a_person_are_retried_by_a_filter_and_redacted_when_they_are_done() throws Exception {
        broken = false;
        assertThat(terminal.run("sagas", "retry-all", "--why", "card works again"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(terminal.run("sagas", "retry-all", "--name", "tour", "--why", "x"))
                .isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.run("sagas", "redact", "ada", "--why", "asked for")).isEqualTo(ExitCode.REFUSED);

        assertThat(terminal.run("sagas", "retry-all", "--name", "trip", "--why", "card works again", "--json"))
                .isZero();
        assertThat(terminal.json().get("done").asText()).isEqualTo("1");
        worker.drain();

        assertThat(status()).isEqualTo("completed");
        assertThat(terminal.run("sagas", "redact", "ada", "--why", "asked for", "--json"))
                .isZero();
        assertThat(terminal.json().get("redacted").asText()).isEqualTo("1");
        assertThat(schema.count("SELECT count(*) FROM rowlock_saga WHERE state::text LIKE '%ada%'"))
                .isZero();
        assertThat(terminal.run("sagas", "redact", "nobody", "--why", "asked for"))
                .isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.run("sagas", "retry", "43", "--why", "x")).isEqualTo(ExitCode.NOTHING);
        assertThat(terminal.run("operations", "list", "--saga", "42", "--json")).isZero();
        assertThat(terminal.json()).hasSize(2);
        assertThat(terminal.run("sagas", "hurry", "42", "--why", "x")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.run("sagas", "cancel-all", "--name", "trip", "--why", "x"))
                .isEqualTo(ExitCode.NOTHING);
    }

    @Test
    void a_step_is_skipped_or_resolved_or_the_whole_saga_is() throws Exception {
        assertThat(terminal.run("sagas", "skip", "42", "book", "--why", "x")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("wrong step");
        assertThat(terminal.run("sagas", "resolve", "42", "--why", "x")).isEqualTo(ExitCode.USAGE);
        assertThat(terminal.run("sagas", "skip", "42", "pay", "--why", "paid in cash"))
                .isZero();
        worker.drain();
        assertThat(status()).isEqualTo("completed");
    }

    @Test
    void a_whole_saga_is_resolved_by_hand_and_a_cancel_after_the_pivot_refused() throws Exception {
        assertThat(terminal.run("sagas", "cancel", "42", "--why", "x")).isEqualTo(ExitCode.REFUSED);
        assertThat(terminal.out()).contains("only forward");
        assertThat(terminal.run("sagas", "resolve", "42", "--whole", "--why", "done by phone"))
                .isZero();
        assertThat(status()).isEqualTo("resolved");
    }
}
