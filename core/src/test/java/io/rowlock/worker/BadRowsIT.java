package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@PostgresTest
final class BadRowsIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestRowlock rowlock;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        rowlock = TestRowlock.fresh(schema);
    }

    @Test
    @Tag("P10")
    void a_row_due_since_minus_infinity_runs_and_stops_no_other() throws Exception {
        rowlock.enqueue(new Mail(1));
        rowlock.schema().execute("UPDATE rowlock_job SET run_at = '-infinity'");
        rowlock.schema()
                .execute("INSERT INTO rowlock_job (kind, payload, run_at) VALUES ('mail', '{\"no\":2}', 'infinity'),"
                        + " ('mail', '{\"no\":3}', '0044-03-15 12:00 BC')");
        Set<Integer> ran = ConcurrentHashMap.newKeySet();

        try (Worker worker =
                rowlock.work(w -> w.queue("default", 1).handle(Mail.class, (mail, job) -> ran.add(mail.no())))) {
            TestRowlock.soon().until(() -> ran.contains(1) && ran.contains(3));
            rowlock.enqueue(new Mail(4));
            TestRowlock.soon().until(() -> ran.contains(4));
            assertThat(worker.health().loops()).isEmpty();
        }
        assertThat(ran).containsExactlyInAnyOrder(1, 3, 4);
    }
}
