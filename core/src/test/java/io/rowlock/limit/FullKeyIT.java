package io.rowlock.limit;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.Rounds;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.QueueLimits;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Thousands of due jobs of a limit key that is full: put aside in bounded rounds, beside the work on others. */
@PostgresTest
@Tag("B59")
final class FullKeyIT {
    private static final int WAITING = 20_000;
    private static final int OTHERS = 20;

    @Kind("call")
    private record Call(String tenant) {}

    @Kind("aside")
    private record Aside(String tenant) {}

    private final CountDownLatch gate = new CountDownLatch(1);
    private TestRowlock rowlock;
    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        rowlock.rowlock().queues().limit("default", QueueLimits.none().runningPerKey(1), new By("op", "test"));
    }

    @Test
    void jobs_of_a_full_key_are_parked_in_bounded_rounds_while_others_are_done() throws Exception {
        insertWaiting();
        insertOthers();
        Rounds rounds = Rounds.of(schema);

        try (Worker worker = rowlock.work(config -> config.handle(Call.class, (call, job) -> {
                    rounds.note(call.tenant());
                    if (call.tenant().equals("full")) {
                        assertThat(gate.await(1, TimeUnit.MINUTES)).isTrue();
                    }
                })
                .handle(Aside.class, (aside, job) -> rounds.note(aside.tenant())))) {
            soon().until(() ->
                    schema.count("SELECT count(*) FROM rowlock_job WHERE state = 'parked' AND limited") == WAITING - 1);
            soon().until(() -> rowlock.count(JobState.COMPLETED) == 5 * OTHERS);
            assertThat(worker.health().up()).isTrue();

            assertThat(rounds.largest()).isBetween(1L, 2_000L);
            assertThat(rounds.readyAt("full")).as("runs").hasSize(1);
            schema.execute("DELETE FROM rowlock_job WHERE state = 'parked'");
            gate.countDown();
        } finally {
            gate.countDown();
        }

        assertThat(rounds.readyAt("of another kind"))
                .hasSize(OTHERS)
                .allSatisfy(ready -> assertThat(ready).isPositive());
        assertThat(rounds.readyAt("without").subList(0, 2 * OTHERS))
                .as("several claims went in between")
                .allSatisfy(ready -> assertThat(ready).isPositive());
        assertThat(rounds.readyAt("in between").subList(0, OTHERS / 2))
                .allSatisfy(ready -> assertThat(ready).isPositive());
    }

    /** Among them in their lane, one in a thousand is of another key. */
    private void insertWaiting() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_job (kind, payload, limit_key, run_at)"
                        + " SELECT 'call', json_build_object('tenant', CASE WHEN n % ? = 0 THEN 'in between' ELSE 'full' END),"
                        + " CASE WHEN n % ? = 0 THEN 'other-' || n ELSE 'full' END,"
                        + " clock_timestamp() - interval '1 hour' + n * interval '1 millisecond'"
                        + " FROM generate_series(1, ?) n",
                WAITING / OTHERS + 1, WAITING / OTHERS + 1, WAITING + OTHERS);
    }

    private void insertOthers() throws Exception {
        List<Object> without = new ArrayList<>();
        for (int n = 0; n < OTHERS; n++) {
            int number = n;
            without.addAll(Collections.nCopies(3, new Call("without")));
            rowlock.enqueue(new Aside("of another kind"), options -> options.limitKey("aside-" + number));
        }
        rowlock.enqueueAll(without);
    }
}
