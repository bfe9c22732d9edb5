package io.rowlock.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.alert.AlertFilter;
import io.rowlock.alert.Alerts;
import io.rowlock.error.AccessRefusedException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.idempotency.Answers;
import io.rowlock.idempotency.IdempotencyKey;
import io.rowlock.job.By;
import io.rowlock.job.DeadHead;
import io.rowlock.job.JobChange;
import io.rowlock.job.JobQuery;
import io.rowlock.job.Jobs;
import io.rowlock.job.QueueLimits;
import io.rowlock.job.Queues;
import io.rowlock.lease.Leases;
import io.rowlock.lease.Partitions;
import io.rowlock.schedule.Schedules;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a person can do is asked for, also what is added later. */
@PostgresTest
final class AskedIT {
    private static final By EVE = new By("eve", "curious");
    private static final Map<Class<?>, Object> GIVEN = Map.ofEntries(
            Map.entry(By.class, EVE),
            Map.entry(String.class, "mail"),
            Map.entry(int.class, 10),
            Map.entry(Instant.class, Instant.EPOCH),
            Map.entry(DeadHead.class, DeadHead.PASS),
            Map.entry(QueueLimits.class, QueueLimits.none()),
            Map.entry(JobQuery.class, JobQuery.all()),
            Map.entry(JobChange.class, new JobChange.Cancel()),
            Map.entry(Consumer.class, (Consumer<Object>) tally -> {}),
            Map.entry(IdempotencyKey.class, new IdempotencyKey("mail")),
            Map.entry(AlertFilter.class, AlertFilter.all()),
            Map.entry(OperationFilter.class, OperationFilter.all()));

    private final Queue<Access> asked = new ConcurrentLinkedQueue<>();
    private final AtomicInteger connections = new AtomicInteger();
    private TestSchema schema;
    private Rowlock rowlock;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        TestRowlock.fresh(schema);
        rowlock = Rowlock.builder()
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
        schema.execute("INSERT INTO rowlock_job (kind, payload, subject, last_error)"
                + " VALUES ('mail', '{\"p\":\"secret\"}', 'mail', 'failed with secret');"
                + "INSERT INTO rowlock_job (kind, payload, subject, ordering_key, state, finished_at, last_error)"
                + " VALUES ('mail', '{\"p\":\"secret\"}', 'mail', 'k', 'dead', clock_timestamp(), 'died of secret');"
                + "INSERT INTO rowlock_job_failure (job_id, attempt, worker, error_class, message, stack)"
                + " SELECT id, 1, 'w', 'x', 'secret', 'secret' FROM rowlock_job;"
                + "INSERT INTO rowlock_key (queue, ordering_key, blocked_by)"
                + " SELECT queue, ordering_key, id FROM rowlock_job WHERE state = 'dead';"
                + "INSERT INTO rowlock_alert (bucket, cause, kind, reason) VALUES (now(), 'dead', 'mail', 'secret');"
                + "INSERT INTO rowlock_queue (queue) VALUES ('mail');"
                + "INSERT INTO rowlock_lease (name, token, holder, expires_at) VALUES ('mail', 7, 'x', 'infinity');"
                + "INSERT INTO rowlock_idempotency_key (key, scope, principal, method, path, fingerprint, response, expires_at)"
                + " VALUES ('mail', sha256('s'), 'mail', 'POST', '/', 'f', '{}', 'infinity')");
    }

    /** Of jobs: what shows no word that a job, or what went wrong with it, says. */
    private static final Set<String> UNASKED = Set.of("in", "load", "counts");

    /** All that say who does it, and what is read of jobs, alerts and operations. */
    static Stream<Method> operations() {
        return Stream.of(
                        Jobs.class,
                        Queues.class,
                        Schedules.class,
                        Alerts.class,
                        Operations.class,
                        Leases.class,
                        Partitions.class,
                        Answers.class)
                .flatMap(door -> Arrays.stream(door.getMethods()))
                .filter(method -> Arrays.asList(method.getParameterTypes()).contains(By.class)
                        || method.getDeclaringClass() == Alerts.class
                        || (method.getDeclaringClass() == Jobs.class && !UNASKED.contains(method.getName()))
                        || method.getDeclaringClass() == Operations.class);
    }

    @ParameterizedTest
    @MethodSource("operations")
    void an_operation_is_asked_for_and_what_is_refused_is_not_done(Method operation) throws Exception {
        List<Map<String, Object>> before = rows();
        int none = connections.get();
        List<Throwable> thrown = new ArrayList<>();
        for (long id : schema.list(Long.class, "SELECT id FROM rowlock_job ORDER BY id")) {
            try {
                assertThat(String.valueOf(operation.invoke(door(operation), given(operation, id))))
                        .doesNotContain("secret");
            } catch (InvocationTargetException e) {
                thrown.add(e.getCause());
            }
        }

        assertThat(asked).isNotEmpty();
        assertThat(asked)
                .extracting(Access::by)
                .allMatch(by -> by.equals(
                        Arrays.asList(operation.getParameterTypes()).contains(By.class) ? EVE : AccessPolicy.NOBODY));
        assertThat(thrown).allMatch(AccessRefusedException.class::isInstance);
        assertThat(rows().toString()).isEqualTo(before.toString());
        if (operation.getDeclaringClass() != Jobs.class) {
            assertThat(thrown).hasSize(2);
            assertThat(connections).hasValue(none);
        }
    }

    private Object door(Method operation) {
        return Stream.of(
                        rowlock.jobs(),
                        rowlock.queues(),
                        rowlock.schedules(),
                        rowlock.alerts(),
                        rowlock.operations(),
                        rowlock.leases(),
                        rowlock.partitions(),
                        rowlock.answers())
                .filter(operation.getDeclaringClass()::isInstance)
                .findFirst()
                .orElseThrow();
    }

    private static Object[] given(Method operation, long id) {
        return Arrays.stream(operation.getParameterTypes())
                .map(type -> type == long.class ? id : type == Long.class ? null : GIVEN.get(type))
                .toArray();
    }

    private List<Map<String, Object>> rows() throws Exception {
        List<Map<String, Object>> rows = new ArrayList<>(schema.rows("SELECT * FROM rowlock_job ORDER BY id"));
        rows.addAll(schema.rows("SELECT * FROM rowlock_operation"));
        rows.addAll(schema.rows("SELECT * FROM rowlock_queue"));
        rows.addAll(schema.rows("SELECT * FROM rowlock_alert"));
        rows.addAll(schema.rows("SELECT * FROM rowlock_lease"));
        rows.addAll(schema.rows("SELECT key, principal, response FROM rowlock_idempotency_key"));
        return rows;
    }

    @Test
    void what_was_refused_is_said_in_words() {
        assertThatThrownBy(() -> rowlock.queues().deadHead("mail", DeadHead.PASS, EVE))
                .hasMessage("The access policy of the application refused to let eve dead head a queue (queue=mail)");
        assertThatThrownBy(() -> rowlock.alerts().acknowledge(7, EVE))
                .hasMessage("The access policy of the application refused to let eve acknowledge an alert (alert=7)");
        assertThatThrownBy(
                        () -> rowlock.alerts().acknowledgeAll(AlertFilter.all().kind("mail"), EVE))
                .hasMessage("The access policy of the application refused to let eve acknowledge alerts (kind=mail)");
        assertThatThrownBy(() -> rowlock.schedules().remove("nightly", EVE))
                .hasMessage(
                        "The access policy of the application refused to let eve remove a schedule (schedule=nightly)");
        assertThatThrownBy(() -> rowlock.leases().revoke("nightly", EVE))
                .hasMessage("The access policy of the application refused to let eve revoke a lease (lease=nightly)");
        assertThatThrownBy(() -> rowlock.answers().redact("ada", new IdempotencyKey("k"), EVE))
                .hasMessage("The access policy of the application refused to let eve redact an answer (answer=k)");
        assertThatThrownBy(() -> rowlock.answers().redact("ada", EVE))
                .hasMessage("The access policy of the application refused to let eve redact answers");
        assertThat(asked)
                .extracting(Access::action)
                .containsExactly(
                        Action.DEAD_HEAD,
                        Action.ACKNOWLEDGE,
                        Action.ACKNOWLEDGE,
                        Action.REMOVE,
                        Action.REVOKE,
                        Action.REDACT,
                        Action.REDACT);
    }
}
