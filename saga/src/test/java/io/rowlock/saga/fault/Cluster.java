package io.rowlock.saga.fault;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.PostgresOptions;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.ds.PGSimpleDataSource;

/** A primary, alone or with a synchronous standby, behind one name, and pools that know the name only. */
final class Cluster implements AutoCloseable {
    private final OwnPostgres primary = TestPostgres.embedded(PostgresOptions::durable);
    private final List<HikariDataSource> pools = new ArrayList<>();
    private final TestSchema before;
    private final OwnPostgres standby; // the primary itself, if it is alone
    private final TestSchema after;
    private final TcpProxy proxy;

    private Cluster(boolean withStandby) throws SQLException {
        before = TestSchema.create(primary, "takeover");
        standby = withStandby ? primary.synchronousStandby() : primary;
        after = TestSchema.existing(standby, before.name());
        proxy = TcpProxy.to(primary);
    }

    static Cluster withStandby() throws SQLException {
        return new Cluster(true);
    }

    static Cluster alone() throws SQLException {
        return new Cluster(false);
    }

    /** Between the pools and whoever is the primary. */
    TcpProxy network() {
        return proxy;
    }

    /** As the first primary has it. */
    TestSchema before() {
        return before;
    }

    /** As the standby has it, which takes over. */
    TestSchema after() {
        return after;
    }

    /** A pool of an application instance, closed with the cluster. */
    HikariDataSource pool(int size) {
        PGSimpleDataSource source = proxy.dataSource(before);
        source.setSocketTimeout(10);
        source.setConnectTimeout(2);
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(2_000);
        config.setValidationTimeout(500);
        HikariDataSource pool = new HikariDataSource(config);
        pools.add(pool);
        return pool;
    }

    /** Cuts connections after so many commits, whoever's they are: those are done, and nobody who did them knows. */
    void loseAnswersOfCommits(int number) throws InterruptedException {
        for (int i = 0; i < number; i++) {
            proxy.cutAfter("COMMIT").awaitFired(Scene.SOON);
        }
    }

    /** The primary dies with all its processes; the name leads to the standby, which is promoted. */
    void failOver() {
        primary.kill();
        proxy.redirect(standby);
        standby.promote();
    }

    /**
     * The standby takes over in good order. The old primary stays up with its connections and takes no more writes: who
     * does not let go of them stays there for ever.
     */
    void switchOver() throws SQLException {
        before.execute("ALTER SYSTEM SET default_transaction_read_only = on");
        before.execute("SELECT pg_reload_conf()");
        Scene.patiently()
                .until(() -> before.count(
                                "SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()")
                        == 0);
        standby.promote();
        proxy.redirect(standby);
    }

    @Override
    public void close() {
        pools.forEach(HikariDataSource::close);
        proxy.close();
        standby.close();
        primary.close();
    }
}
