package io.rowlock.benchmark.peer;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Trial;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Spring Modulith's event publication registry on JDBC. */
public final class Modulith {
    private static final int EVENTS = 10_000;
    private static final String UNFINISHED =
            "SELECT count(*) FROM (SELECT FROM event_publication WHERE completion_date IS NULL LIMIT 1) one";

    private Modulith() {}

    /**
     * Events published in transactions of their own, and handled after the commit.
     *
     * @param threads so many publish, and so many handle
     */
    public static Contender published(int threads) {
        return new Contender(
                        "Spring Modulith",
                        "events-jdbc, completion-mode delete, @ApplicationModuleListener on a pool of " + threads
                                + " threads, which publishers do not wait for",
                        trial -> eventsPerSecond(trial, threads))
                .promising(
                        "an event is recorded in the transaction that publishes it, once for each listener; a listener has a"
                                + " transaction of its own, and the record of its end another; what failed or was cut off stays until the"
                                + " application resubmits it, by hand or at its next start: no retries, no lease, no limit of attempts;"
                                + " there are no other workers");
    }

    /** The event, of about forty bytes. */
    public record Noted(long number, String text) {}

    /** What Spring finds by itself, and the listener. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableAsync
    static class Application {
        @Bean
        Listener listener(CountDownLatch left) {
            return new Listener(left);
        }
    }

    /** Handles the event. */
    static class Listener {
        private final CountDownLatch left;

        Listener(CountDownLatch left) {
            this.left = left;
        }

        @ApplicationModuleListener
        void on(Noted noted) {
            if (noted.text().isEmpty()) {
                throw new IllegalArgumentException("a payload was lost");
            }
            left.countDown();
        }
    }

    private static double eventsPerSecond(Trial trial, int threads) throws Exception {
        int share = Math.max(1, trial.scaled(EVENTS) / threads);
        int events = share * threads;
        CountDownLatch left = new CountDownLatch(events);
        DataSource pool = trial.pool(threads * 2 + 5);
        ExecutorService publishers = Executors.newFixedThreadPool(threads);
        try (ConfigurableApplicationContext spring = application(pool, left, threads)) {
            TransactionTemplate transactions =
                    new TransactionTemplate(spring.getBean(PlatformTransactionManager.class));
            Callable<Integer> publishing = () -> {
                for (int i = 0; i < share; i++) {
                    Noted event = new Noted(i, "0123456789abcdef");
                    transactions.executeWithoutResult(status -> spring.publishEvent(event));
                }
                return share;
            };
            trial.settle();
            long startedAt = System.nanoTime();
            for (Future<Integer> each : publishers.invokeAll(
                    IntStream.range(0, threads).mapToObj(i -> publishing).toList())) {
                each.get();
            }
            if (!left.await(20, TimeUnit.MINUTES)) {
                throw new TimeoutException("Spring Modulith has " + left.getCount() + " events left");
            }
            while (trial.ask(UNFINISHED) > 0) {
                TimeUnit.MILLISECONDS.sleep(2);
            }
            return events / ((System.nanoTime() - startedAt) / 1e9);
        } finally {
            publishers.shutdown();
        }
    }

    private static ConfigurableApplicationContext application(DataSource pool, CountDownLatch left, int threads) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .logStartupInfo(false)
                .registerShutdownHook(false)
                .properties(
                        "spring.main.banner-mode=off",
                        "spring.modulith.events.jdbc.schema-initialization.enabled=true",
                        "spring.modulith.events.completion-mode=delete",
                        "spring.task.execution.pool.core-size=" + threads,
                        "spring.task.execution.pool.max-size=" + threads)
                .initializers(context -> {
                    context.getBeanFactory().registerSingleton("dataSource", pool);
                    context.getBeanFactory().registerSingleton("left", left);
                })
                .run();
    }
}
