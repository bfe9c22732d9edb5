package io.rowlock.schema;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ten real processes that start at once: each is ready in the end, and every script ran once. */
@PostgresTest
@Tag("B54")
final class TenInstancesIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final List<ChildJvm> instances = new ArrayList<>();

    @AfterEach
    void end() {
        instances.forEach(ChildJvm::close);
    }

    @Test
    void on_no_tables_on_old_ones_and_where_one_is_killed_half_way(TestPostgres server) throws Exception {
        for (int i = 0; i < 10; i++) {
            String name = "instance-" + i;
            instances.add(ChildJvm.start(
                    StartingChild.class,
                    options -> options.jvmArguments("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                            .arguments(name)
                            .sharing(server)));
        }
        for (ChildJvm each : instances) {
            each.awaitLine("waiting", LIMIT);
        }
        try (TestSchema empty = TestSchema.create(server, "empty");
                TestSchema old = TestSchema.create(server, "old");
                TestSchema half = TestSchema.create(server, "half")) {
            start(empty);
            ready(empty);

            upTo(old, 5);
            start(old);
            ready(old);
            assertThat(old.count("SELECT count(*) FROM rowlock_job")).isEqualTo(100);

            upTo(half, 7);
            killHalfWay(half);
            ready(half);
            assertThat(half.count("SELECT count(*) FROM rowlock_job")).isEqualTo(100);
        }
    }

    private void start(TestSchema schema) {
        instances.forEach(each -> each.send(schema.name()));
    }

    private void ready(TestSchema schema) throws Exception {
        for (ChildJvm each : instances) {
            each.awaitLine(line -> line.startsWith("ready " + schema.name()), LIMIT);
        }
        Schema tables = tables(schema);
        tables.validate();
        assertThat(schema.list(Integer.class, "SELECT version FROM rowlock_schema ORDER BY version"))
                .hasSize(tables.version())
                .doesNotHaveDuplicates();
        assertThat(schema.count("SELECT count(DISTINCT installation) FROM rowlock_schema WHERE version = 1"))
                .isEqualTo(1);
    }

    /** The process that migrates waits for the last table that is changed, and is killed there. */
    private void killHalfWay(TestSchema half) throws Exception {
        String migrating = "SELECT application_name::text FROM pg_stat_activity a WHERE wait_event_type = 'Lock' AND"
                + " wait_event = 'relation' AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND NOT granted"
                + " AND l.relation = 'rowlock_alert'::regclass)";
        try (Connection other = half.begin()) {
            other.createStatement().execute("LOCK TABLE rowlock_alert IN ACCESS EXCLUSIVE MODE");
            start(half);
            soon().until(() -> half.list(String.class, migrating).size() == 1);
            int which =
                    Integer.parseInt(half.list(String.class, migrating).get(0).replace("instance-", ""));
            instances.remove(which).kill();
            other.rollback();
        }
        assertThat(instances).hasSize(9);
    }

    /** Tables of an older version, with jobs in them. */
    private static void upTo(TestSchema schema, int version) throws Exception {
        String script = tables(schema).script(0);
        schema.execute(script.substring(0, script.indexOf("-- Rowlock " + (version + 1))));
        schema.execute("INSERT INTO rowlock_job (kind, payload) SELECT 'later', '{}' FROM generate_series(1, 100)");
        assertThat(schema.count("SELECT max(version)::bigint FROM rowlock_schema"))
                .isEqualTo(version);
    }

    private static Schema tables(TestSchema schema) {
        return Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build()
                .schema();
    }
}
