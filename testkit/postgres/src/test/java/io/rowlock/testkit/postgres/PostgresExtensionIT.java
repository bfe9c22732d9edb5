package io.rowlock.testkit.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Runs test classes inside a test, to see which schemas they get and what they leave. */
final class PostgresExtensionIT {

    private static final List<TestSchema> SEEN = new CopyOnWriteArrayList<>();

    @BeforeEach
    void forget() {
        SEEN.clear();
    }

    @Test
    void each_class_has_its_own_schema_and_leaves_none() throws Exception {
        run(2, First.class, SecondOfTheSameParent.class);
        assertThat(SEEN.stream().map(TestSchema::name)).hasSize(2).doesNotHaveDuplicates();
        for (TestSchema schema : SEEN) {
            assertThat(exists(schema)).isFalse();
        }
    }

    @Test
    void nested_classes_share_a_schema_that_lives_until_the_outer_class_ends() throws Exception {
        run(2, Outer.class);
        assertThat(SEEN.stream().map(TestSchema::name).distinct()).hasSize(1);
        assertThat(exists(SEEN.get(0))).isFalse();
    }

    @Test
    void registered_extension_uses_another_server_from_static_and_instance_fields() throws Exception {
        try (OwnPostgres server = TestPostgres.embedded(o -> {})) {
            Servers.current = server;
            run(3, StaticField.class, InstanceField.class);
            assertThat(SEEN).hasSize(3).allMatch(schema -> schema.server() == server);
            assertThat(SEEN.stream().map(TestSchema::name).distinct()).hasSize(2);
            for (TestSchema schema : SEEN) {
                assertThat(exists(schema)).isFalse();
            }
        }
    }

    private static void run(int tests, Class<?>... classes) {
        EngineTestKit.Builder engine = EngineTestKit.engine("junit-jupiter");
        for (Class<?> each : classes) {
            engine.selectors(selectClass(each));
        }
        engine.configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
                .configurationParameter("junit.jupiter.execution.parallel.mode.classes.default", "concurrent")
                .execute()
                .testEvents()
                .assertStatistics(statistics -> statistics.started(tests).succeeded(tests));
    }

    private static boolean exists(TestSchema schema) throws SQLException {
        try (Connection connection = schema.server().connect()) {
            return !Statements.rows(connection, "SELECT 1 FROM pg_namespace WHERE nspname = ?", schema.name())
                    .isEmpty();
        }
    }

    @PostgresTest
    abstract static class Parent {

        @Test
        void sees_an_empty_schema(TestSchema schema) throws Exception {
            schema.execute("CREATE TABLE note (id bigint)");
            SEEN.add(schema);
        }
    }

    static final class First extends Parent {}

    static final class SecondOfTheSameParent extends Parent {}

    @PostgresTest
    static final class Outer {

        @Nested
        final class A {
            @Test
            void sees(TestSchema schema) throws Exception {
                schema.execute("CREATE TABLE IF NOT EXISTS note (id bigint)");
                SEEN.add(schema);
            }
        }

        @Nested
        final class B {
            @Test
            void sees(TestSchema schema) throws Exception {
                schema.execute("CREATE TABLE IF NOT EXISTS note (id bigint)");
                SEEN.add(schema);
            }
        }
    }

    /** The server of the running test; the classes below are made by JUnit and cannot be handed one. */
    private static final class Servers {
        private static volatile OwnPostgres current;
    }

    static final class StaticField {

        @RegisterExtension
        static final PostgresExtension POSTGRES = PostgresExtension.on(() -> Servers.current);

        @Test
        void sees(TestSchema schema) {
            SEEN.add(schema);
        }
    }

    static final class InstanceField {

        @RegisterExtension
        final PostgresExtension postgres = PostgresExtension.on(() -> Servers.current);

        @Test
        void sees_one(TestSchema schema) {
            SEEN.add(schema);
        }

        @Test
        void sees_the_same(TestSchema schema) {
            SEEN.add(schema);
        }
    }
}
