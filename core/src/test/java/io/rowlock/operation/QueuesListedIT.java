package io.rowlock.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.DeadHead;
import io.rowlock.job.QueueLimits;
import io.rowlock.job.QueueView;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.util.List;
import org.junit.jupiter.api.Test;

@PostgresTest
final class QueuesListedIT {
    private static final By ADA = new By("ada", "test");

    @Test
    void queues_with_settings_or_waiting_jobs_are_listed_by_name(TestSchema schema) throws Exception {
        TestRowlock test = TestRowlock.fresh(schema);
        schema.execute("INSERT INTO rowlock_job (kind, queue, payload, run_at, ordering_key, losses) VALUES"
                + " ('mail', 'both', '{}', '2020-01-02T00:00Z', NULL, 0), ('mail', 'both', '{}', '2020-01-03T00:00Z', NULL, 0),"
                + " ('sms', 'both', '{}', '2020-01-01T00:00Z', 'k', 0), ('fax', 'both', '{}', '2020-01-04T00:00Z', NULL, 1),"
                + " ('mail', 'jobs', '{}', '2020-01-05T00:00Z', NULL, 0)");
        schema.execute("INSERT INTO rowlock_job (kind, queue, payload, run_at, locked_by, locked_until) VALUES"
                + " ('mail', 'leased', '{}', '2020-01-01T00:00Z', 'w', clock_timestamp())");
        test.rowlock().queues().pause("both", ADA);
        test.rowlock().queues().deadHead("settings", DeadHead.PASS, new By("ada", "followers need not wait"));
        test.rowlock().queues().limit("settings", QueueLimits.none().running(3), ADA);

        List<QueueView> all = test.rowlock().queues().all();

        assertThat(all)
                .extracting(
                        QueueView::queue,
                        QueueView::kinds,
                        QueueView::deadHead,
                        each -> each.limits().running())
                .containsExactly(
                        tuple("both", 3, DeadHead.BLOCK, null),
                        tuple("jobs", 1, DeadHead.BLOCK, null),
                        tuple("leased", 1, DeadHead.BLOCK, null),
                        tuple("settings", 0, DeadHead.PASS, 3));
        assertThat(all)
                .extracting(each -> each.pause() == null ? null : each.pause().who())
                .containsExactly("ada", null, null, null);
        assertThat(all)
                .extracting(QueueView::earliest)
                .extracting(String::valueOf)
                .containsExactly("2020-01-01T00:00:00Z", "2020-01-05T00:00:00Z", "null", "null");
    }
}
