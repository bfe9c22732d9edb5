package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.LoggedKeys;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** What log lines say of the job at work on their thread, and that they say nothing of it afterwards. */
@PostgresTest
final class LogContextIT {
    @Kind("mail")
    private record Mail(int no) {}

    private TestRowlock rowlock;
    private final Map<String, Map<String, String>> seen = new ConcurrentHashMap<>();

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        LoggedKeys.keep();
        MDC.clear();
        rowlock = TestRowlock.fresh(schema);
    }

    private static Map<String, String> keys() {
        Map<String, String> keys = MDC.getCopyOfContextMap();
        return keys == null ? Map.of() : new HashMap<>(keys);
    }

    private void see(Mail mail, int attempt) {
        seen.put(mail.no() + "/" + attempt, keys());
    }

    @Test
    void handler_finds_its_job_and_its_attempt() throws Exception {
        long first = rowlock.enqueue(new Mail(1)).id();
        long second =
                rowlock.enqueue(new Mail(2), job -> job.subject("Order:2")).id();
        String id;
        try (Worker worker = rowlock.work(w -> w.name("mailer")
                .handle(
                        Mail.class,
                        (mail, job) -> {
                            see(mail, job.attempt());
                            if (job.attempt() == 1) {
                                throw new IllegalStateException("again");
                            }
                        },
                        h -> h.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(2))))) {
            rowlock.awaitAllEnded();
            id = worker.id();
        }

        assertThat(seen.get("1/2"))
                .isEqualTo(Map.of(
                        "rowlock.job", String.valueOf(first),
                        "rowlock.kind", "mail",
                        "rowlock.queue", "default",
                        "rowlock.attempt", "2",
                        "rowlock.worker", id));
        assertThat(seen.get("2/1"))
                .containsEntry("rowlock.job", String.valueOf(second))
                .containsEntry("rowlock.attempt", "1")
                .containsEntry("rowlock.subject", "Order:2");
    }

    /** Also what a handler put there or cleared; what the application had put on its thread is there again. */
    @Test
    @Tag("P9")
    void thread_of_the_applications_pool_has_afterwards_what_it_had_before() throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        Map<String, String> own = Map.of("tenant", "a", "rowlock.kind", "the application's own");
        try {
            pool.submit(() -> MDC.setContextMap(own)).get();
            for (int no = 1; no <= 4; no++) {
                rowlock.enqueue(new Mail(no));
            }
            try (Worker worker = rowlock.work(w -> w.executor(pool)
                    .queue("default", 1)
                    .handle(
                            Mail.class,
                            (mail, job) -> {
                                see(mail, 1);
                                switch (mail.no()) {
                                    case 1 -> MDC.clear();
                                    case 2 -> MDC.put("leaked", "yes");
                                    case 3 -> MDC.remove("tenant");
                                    default -> throw new IllegalStateException("no");
                                }
                            },
                            h -> h.retry(RetryPolicy.fixed(Duration.ZERO).maxAttempts(1))))) {
                rowlock.awaitAllEnded();
                assertThat(worker.health().loops()).isEmpty();
            }

            assertThat(pool.submit(LogContextIT::keys).get()).isEqualTo(own);
            for (int no = 1; no <= 4; no++) {
                assertThat(seen.get(no + "/1"))
                        .containsEntry("tenant", "a")
                        .containsEntry("rowlock.kind", "mail")
                        .doesNotContainKey("leaked");
            }
            assertThat(rowlock.count(JobState.COMPLETED)).isEqualTo(3);
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void callers_thread_of_a_worker_cranked_by_hand_too() throws Exception {
        rowlock.enqueue(new Mail(1));
        try (HandCrankedWorker worker =
                rowlock.rowlock().handCrankedWorker(config -> config.handle(Mail.class, (mail, job) -> see(mail, 1)))) {
            worker.drain();
            assertThat(keys()).isEmpty();
            MDC.put("test", "this");
            rowlock.enqueue(new Mail(2));
            worker.drain();
        } finally {
            assertThat(keys()).isEqualTo(Map.of("test", "this"));
            MDC.clear();
        }
        assertThat(seen.get("2/1")).containsEntry("test", "this").containsKey("rowlock.job");
    }
}
