package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.AccessRefusedException;
import io.rowlock.job.By;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaTally;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.Sagas;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a person can do to sagas is asked for, also what is added later, and what they say is not read without. */
@PostgresTest
final class AskedIT {
    private static final SagaType<String> TYPE = SagaType.named("asked", String.class);
    private static final SagaDefinition<String> DEFINITION = saga -> saga.named("asked", String.class)
            .version(1)
            .pivot("p")
            .call((state, step) -> state)
            .build();
    private static final By EVE = new By("eve", "curious");
    private static final Map<Class<?>, Object> GIVEN =
            Map.of(By.class, EVE, String.class, "1", Object.class, "state", SagaQuery.class, SagaQuery.all());
    /** Of many: asked for each, left and counted. */
    private static final Set<String> BULK = Set.of("retryAll", "cancelAll");

    private final Queue<Access> asked = new ConcurrentLinkedQueue<>();
    private final AtomicInteger connections = new AtomicInteger();
    private TestSchema schema;
    private SagaEngine engine;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        Rowlock rowlock = Rowlock.builder()
                .connections(() -> {
                    connections.incrementAndGet();
                    return schema.connect();
                })
                .schema(schema.name())
                .access(access -> {
                    asked.add(access);
                    return false;
                })
                .build();
        rowlock.schema().install();
        schema.execute("TRUNCATE rowlock_saga, rowlock_saga_step, rowlock_job, rowlock_operation");
        engine = SagaEngine.builder(rowlock).register(DEFINITION).build();
        try (Connection connection = schema.begin()) {
            engine.sagas().start(connection, TYPE, "1", "secret");
            connection.commit();
        }
        schema.execute("UPDATE rowlock_saga SET status = 'stuck', driver = NULL, reason = 'failed with secret',"
                + " cancel_reason = 'as secret says'");
    }

    static Stream<Method> operations() {
        return Stream.of(SagaOperations.class, Sagas.class)
                .flatMap(door -> Arrays.stream(door.getMethods()))
                .filter(method -> !method.getName().equals("find"))
                .filter(method -> Arrays.asList(method.getParameterTypes()).contains(By.class)
                        || Set.of("get", "timeline").contains(method.getName()));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void an_operation_is_asked_for_and_what_is_refused_is_not_done(Method operation) throws Exception {
        List<Map<String, Object>> before = schema.rows("SELECT * FROM rowlock_saga");
        int none = connections.get();
        Object door = operation.getDeclaringClass() == Sagas.class ? engine.sagas() : engine.operations();
        Object[] given =
                Arrays.stream(operation.getParameterTypes()).map(GIVEN::get).toArray();

        if (BULK.contains(operation.getName())) {
            assertThat(operation.invoke(door, given)).isEqualTo(new SagaTally(0, 1, 0, 0));
        } else {
            assertThatThrownBy(() -> invoke(operation, door, given)).isInstanceOf(AccessRefusedException.class);
            assertThat(connections).hasValue(none);
        }

        boolean said = Arrays.asList(operation.getParameterTypes()).contains(By.class);
        assertThat(asked).singleElement().satisfies(access -> {
            assertThat(access.target()).isEqualTo(Target.SAGA);
            assertThat(access.by()).isEqualTo(said ? EVE : AccessPolicy.NOBODY);
            assertThat(operation.getName().equals("redact") ? access.subject() : access.name())
                    .isEqualTo("1");
        });
        assertThat(schema.rows("SELECT * FROM rowlock_saga").toString()).isEqualTo(before.toString());
        assertThat(schema.count("SELECT count(*) FROM rowlock_operation")).isZero();
    }

    private static void invoke(Method operation, Object door, Object... given) throws Throwable {
        try {
            operation.invoke(door, given);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Test
    void a_search_shows_no_state_and_what_went_wrong_to_those_who_may_read_it() {
        assertThat(engine.operations().find(SagaQuery.all()).toString())
                .contains("asked", "reason=hidden", "cancel=hidden")
                .doesNotContain("secret");
        assertThat(engine.operations().find(SagaQuery.all(), EVE).toString()).doesNotContain("secret");
        assertThat(asked)
                .containsExactly(
                        Access.of(Action.READ, Target.SAGA, AccessPolicy.NOBODY, "1"),
                        Access.of(Action.READ, Target.SAGA, EVE, "1"));
    }
}
