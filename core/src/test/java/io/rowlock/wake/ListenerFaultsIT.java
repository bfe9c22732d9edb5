package io.rowlock.wake;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.event.RowlockEvent.NotificationFailed;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobState;
import io.rowlock.job.Kind;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to those who listen and to those who send. Whatever it is, the poll finds every job. */
@PostgresTest
@Tag("P10")
@Timeout(120)
final class ListenerFaultsIT {
    @Kind("mail")
    private record Mail(int no) {}

    private final TestSchema schema;
    private final List<RowlockEvent> events = new CopyOnWriteArrayList<>();
    private TestRowlock tables;
    private Rowlock here;

    ListenerFaultsIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void install() throws Exception {
        tables = TestRowlock.fresh(schema);
        here = rowlock(schema::connect);
    }

    @Test
    void a_listener_whose_connection_is_gone_hears_again() throws Exception {
        try (Worker worker = worker(rowlock(named()), Duration.ofHours(1))) {
            for (int no = 1; no <= 3; no++) {
                soon().until(() -> listeners().size() == 1);
                long old = listeners().get(0);
                schema.count("SELECT count(pg_terminate_backend(?::int))", old);
                soon().until(() -> listeners().stream().anyMatch(pid -> pid != old));
                Enqueued job = tables.enqueue(new Mail(no));
                here.wake(List.of(job));
                tables.awaitState(job.id(), JobState.COMPLETED);
            }
            soon().until(() -> worker.health().up());
        }
        assertThat(events)
                .filteredOn(event ->
                        event instanceof LoopFailed failed && failed.loop().equals("listener"))
                .isNotEmpty();
    }

    @Test
    @Tag("P2")
    void who_listens_anew_looks_for_what_was_told_meanwhile() throws Exception {
        AtomicBoolean reachable = new AtomicBoolean(true);
        ConnectionSource named = named();
        ConnectionSource source = () -> {
            if (!reachable.get() && Thread.currentThread().getName().endsWith("-heartbeat")) {
                throw new SQLException("out of reach", "08001");
            }
            return named.get();
        };
        try (Worker worker = worker(rowlock(source), Duration.ofHours(1))) {
            soon().until(() -> listeners().size() == 1);
            reachable.set(false);
            schema.count(
                    "SELECT count(pg_terminate_backend(?::int))", listeners().get(0));
            soon().until(() -> listeners().isEmpty());
            Enqueued job = tables.enqueue(new Mail(1));
            here.wake(List.of(job));
            reachable.set(true);
            tables.awaitState(job.id(), JobState.COMPLETED);
            assertThat(worker.health().state().name()).isEqualTo("RUNNING");
        }
    }

    @Test
    void connections_that_hide_the_drivers_own_are_told_of_once_and_the_worker_polls() throws Exception {
        ConnectionSource hiding = () -> {
            Connection real = schema.connect();
            return proxy((proxy, method, arguments) ->
                    method.getName().equals("isWrapperFor") ? (Object) false : call(real, method, arguments));
        };
        assertPollsAndSaysSoOnce(hiding, "cannot be unwrapped");
    }

    @Test
    void a_pooler_that_gives_each_statement_another_session_is_told_of_once_and_the_worker_polls() throws Exception {
        ConnectionSource pooler = () -> {
            List<Connection> sessions = List.of(schema.connect(), schema.connect());
            AtomicInteger turn = new AtomicInteger();
            return proxy((proxy, method, arguments) -> {
                if (method.getName().equals("close") || method.getName().equals("abort")) {
                    call(sessions.get(1), method, arguments);
                }
                boolean statement = method.getName().equals("prepareStatement");
                return call(sessions.get(statement ? turn.getAndIncrement() % 2 : 0), method, arguments);
            });
        };
        assertPollsAndSaysSoOnce(pooler, "transaction mode");
    }

    private void assertPollsAndSaysSoOnce(ConnectionSource source, String reason) throws Exception {
        try (Worker worker = worker(rowlock(source), Duration.ofMillis(20))) {
            soon().until(() -> !heard(LoopFailed.class).isEmpty());
            for (int no = 1; no <= 3; no++) {
                tables.awaitState(tables.enqueue(new Mail(no)).id(), JobState.COMPLETED);
            }
            assertThat(worker.health().up()).isTrue();
        }
        assertThat(heard(LoopFailed.class)).hasSize(1);
        assertThat(heard(LoopFailed.class).get(0).loop()).isEqualTo("listener");
        assertThat(heard(LoopFailed.class).get(0).cause()).hasMessageContaining(reason);
    }

    @Test
    void a_connection_that_was_given_back_to_its_pool_does_not_listen_any_more() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setDataSource(schema.dataSource());
        config.setMaximumPoolSize(4);
        config.setMinimumIdle(4);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            try (Worker worker = worker(rowlock(pool::getConnection), Duration.ofHours(1))) {
                Enqueued job = tables.enqueue(new Mail(1));
                here.wake(List.of(job)); // heard through the pool's wrapper
                tables.awaitState(job.id(), JobState.COMPLETED);
                assertThat(worker.health().up()).isTrue();
            }
            List<Connection> all = new ArrayList<>();
            List<Long> channels = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Connection each = pool.getConnection();
                all.add(each);
                try (var rows = each.createStatement().executeQuery("SELECT count(*) FROM pg_listening_channels()")) {
                    rows.next();
                    channels.add(rows.getLong(1));
                }
            }
            for (Connection each : all) {
                each.close();
            }
            assertThat(channels).containsExactly(0L, 0L, 0L, 0L);
        }
    }

    @Test
    @Tag("B60")
    void what_the_sender_cannot_send_is_found_by_the_poll_and_the_sender_goes_on() throws Exception {
        AtomicBoolean reachable = new AtomicBoolean();
        Rowlock sender = rowlock(() -> {
            if (!reachable.get()) {
                throw new SQLException("no connection to be had", "08001");
            }
            return schema.connect();
        });
        try (Worker worker = worker(rowlock(schema::connect), Duration.ofMillis(50));
                Witness witness = new Witness(schema)) {
            Enqueued unsent = tables.enqueue(new Mail(1));
            sender.wake(List.of(unsent));
            soon().until(() -> !heard(NotificationFailed.class).isEmpty());
            tables.awaitState(unsent.id(), JobState.COMPLETED);

            reachable.set(true);
            Enqueued sent = tables.enqueue(new Mail(2));
            sender.wake(List.of(sent));
            assertThat(witness.next()).contains("\n" + sent.id() + " default mail ");
            assertThat(worker.health().up()).isTrue();
        }
    }

    private <E extends RowlockEvent> List<E> heard(Class<E> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    private Rowlock rowlock(ConnectionSource connections) {
        return Rowlock.builder()
                .connections(connections)
                .schema(schema.name())
                .notifications(true)
                .listener(events::add)
                .build();
    }

    private static Worker worker(Rowlock rowlock, Duration poll) {
        Worker worker = rowlock.worker(w -> w.poll(poll).queue("default", 2).handle(Mail.class, (mail, job) -> {}));
        worker.start();
        soon().until(() -> worker.health().sinceClaim() != null);
        return worker;
    }

    /** Connections that can be told from those of other tests. */
    private ConnectionSource named() {
        var named = schema.dataSource();
        named.setApplicationName(schema.name() + "-there");
        return named::getConnection;
    }

    private List<Long> listeners() throws SQLException {
        return schema.list(
                Long.class,
                "SELECT pid::bigint FROM pg_stat_activity WHERE application_name = ?"
                        + " AND query LIKE '/* rowlock:listening-session */%'",
                schema.name() + "-there");
    }

    private static Connection proxy(InvocationHandler handler) {
        return (Connection)
                Proxy.newProxyInstance(Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, handler);
    }

    private static Object call(Object on, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(on, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
