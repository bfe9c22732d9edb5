package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.PostgresOptions;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A synchronous standby takes over behind one name. */
@Tag("P10")
@Tag("B51")
@Timeout(240)
final class FailoverIT {
    private static final int JOBS = 30;

    private final Heard heard = new Heard();
    private OwnPostgres primary;
    private OwnPostgres standby;
    private TcpProxy proxy;
    private HikariDataSource pool;
    private Scene before;
    private Scene after;

    @BeforeEach
    void begin() throws SQLException {
        primary = TestPostgres.embedded(PostgresOptions::durable);
        TestSchema schema = TestSchema.create(primary, "failover");
        before = Scene.empty(schema);
        standby = primary.synchronousStandby();
        after = new Scene(TestSchema.existing(standby, schema.name()));
        proxy = TcpProxy.to(primary);
        HikariConfig config = new HikariConfig();
        config.setDataSource(proxy.dataSource(schema));
        config.setMaximumPoolSize(4);
        config.setConnectionTimeout(1_000);
        config.setValidationTimeout(500);
        pool = new HikariDataSource(config);
    }

    @AfterEach
    void end() throws SQLException {
        after.close();
        before.close();
        pool.close();
        proxy.close();
        standby.close();
        primary.close();
    }

    @Test
    void claiming_resumes_by_itself_after_a_time_on_a_read_only_server() throws Exception {
        List<Long> jobs = before.enqueueAll(Collections.nCopies(JOBS, Task.waiting("long")));
        Deeds first = before.deeds("before");
        Worker worker = start(first);
        before.awaitStart("long", "before");

        primary.kill();
        proxy.redirect(standby);
        patiently().until(() -> readOnlyFailures() >= 10);
        assertThat(worker.health().up()).isFalse();
        standby.promote();
        assertEnds(worker, jobs, first);
    }

    @Test
    void silent_network_ends_by_the_network_timeout_and_claiming_resumes_on_the_new_server() throws Exception {
        List<Long> jobs = before.enqueueAll(Collections.nCopies(JOBS, Task.waiting("long")));
        Deeds first = before.deeds("before");
        Worker worker = start(first);
        before.awaitStart("long", "before");

        proxy.freeze();
        patiently().until(() -> !worker.health().up());
        primary.kill();
        standby.promote();
        assertThat(worker.health().up()).isFalse();
        proxy.redirect(standby);
        proxy.cut();
        proxy.thaw();
        assertEnds(worker, jobs, first);
    }

    /** Its handler cannot note anything after the failover, however often it tries. */
    private Worker start(Deeds handler) {
        return before.start(
                before.rowlock(pool::getConnection, heard),
                worker -> worker.lease(Scene.LEASE)
                        .handle(Task.class, handler, options -> options.retry(Scene.AT_ONCE.maxAttempts(100_000))));
    }

    private long readOnlyFailures() {
        return heard.of(LoopFailed.class).stream()
                .filter(failed -> failed.cause() instanceof SQLException e && "25006".equals(e.getSQLState()))
                .count();
    }

    /** What was begun before the failover fails at its note to the dead server, or is rescued; all run on the new one. */
    private void assertEnds(Worker worker, List<Long> jobs, Deeds first) throws SQLException {
        Deeds helper = after.deeds("after");
        helper.openAll();
        after.start(after.rowlock(), helper);
        first.openAll();
        after.awaitAllDone();
        assertThat(after.count("state = 'completed'")).isEqualTo(jobs.size());
        patiently().until(() -> worker.health().up());
        long next = after.enqueue(Task.quick("next"));
        after.awaitState(next, "completed");
        assertThat(after.count("attempts <> 1 + (SELECT count(*) FROM rowlock_job_failure f"
                        + " WHERE f.job_id = rowlock_job.id)"))
                .isZero();
        assertThat(after.alerts()).isZero();
    }
}
