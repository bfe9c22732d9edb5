package io.rowlock.benchmark.peer;

import io.rowlock.benchmark.run.Contender;
import io.rowlock.benchmark.run.Trial;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/** Quartz with its JDBC job store, clustered, triggers acquired in batches. */
public final class Quartz {
    private static final int JOBS = 4_000;
    private static final int THREADS = 25;
    private static final String TABLES = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";

    private static volatile CountDownLatch left = new CountDownLatch(0);

    private Quartz() {}

    /** Works a backlog off. */
    public static Contender drain() {
        return new Contender(
                        "Quartz",
                        THREADS + " threads, JobStoreTX clustered, batchTriggerAcquisitionMaxCount " + THREADS,
                        Quartz::jobsPerSecond)
                .promising(
                        "at most once unless a job asks for recovery, then again when its node has missed check-ins; one lock"
                                + " over the whole scheduler; no retries; jobs are stored as the name of a class");
    }

    /** The job. */
    public static final class Noop implements Job {
        /** Quartz makes one for each run. */
        public Noop() {}

        @Override
        public void execute(JobExecutionContext context) {
            left.countDown();
        }
    }

    private static double jobsPerSecond(Trial trial) throws Exception {
        int jobs = trial.scaled(JOBS);
        left = new CountDownLatch(jobs);
        DataSource pool = trial.pool(THREADS + 5);
        createTables(trial);
        String name = trial.schema().name();
        DBConnectionManager.getInstance().addConnectionProvider(name, new Pooled(pool));
        Scheduler scheduler = new StdSchedulerFactory(properties(name)).getScheduler();
        try {
            fill(scheduler, jobs);
            trial.settle();
            long startedAt = System.nanoTime();
            scheduler.start();
            if (!left.await(20, TimeUnit.MINUTES)) {
                throw new TimeoutException("Quartz has " + left.getCount() + " jobs left");
            }
            return jobs / ((System.nanoTime() - startedAt) / 1e9);
        } finally {
            scheduler.shutdown(true);
        }
    }

    private static Properties properties(String name) {
        Properties properties = new Properties();
        properties.setProperty("org.quartz.scheduler.instanceName", name);
        properties.setProperty("org.quartz.scheduler.instanceId", "AUTO");
        properties.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
        properties.setProperty("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", String.valueOf(THREADS));
        properties.setProperty("org.quartz.scheduler.batchTriggerAcquisitionFireAheadTimeWindow", "1000");
        properties.setProperty("org.quartz.threadPool.threadCount", String.valueOf(THREADS));
        properties.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
        properties.setProperty(
                "org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
        properties.setProperty("org.quartz.jobStore.useProperties", "true");
        properties.setProperty("org.quartz.jobStore.isClustered", "true");
        properties.setProperty("org.quartz.jobStore.acquireTriggersWithinLock", "true");
        properties.setProperty("org.quartz.jobStore.dataSource", name);
        return properties;
    }

    private static void fill(Scheduler scheduler, int jobs) throws SchedulerException {
        for (int i = 0; i < jobs; i++) {
            JobDetail job = JobBuilder.newJob(Noop.class)
                    .withIdentity("job-" + i)
                    .usingJobData("payload", "0123456789012345678901234567890123456789")
                    .build();
            scheduler.scheduleJob(
                    job, Set.of(TriggerBuilder.newTrigger().startNow().build()), false);
        }
    }

    private static void createTables(Trial trial) throws IOException, SQLException {
        try (InputStream script = Quartz.class.getResourceAsStream(TABLES)) {
            if (script == null) {
                throw new IOException("Quartz has no " + TABLES);
            }
            trial.schema().execute(new String(script.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** Connections of the trial's pool. */
    private record Pooled(DataSource pool) implements ConnectionProvider {
        @Override
        public Connection getConnection() throws SQLException {
            return pool.getConnection();
        }

        @Override
        public void shutdown() {}

        @Override
        public void initialize() {}
    }
}
