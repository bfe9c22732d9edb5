package io.rowlock.saga.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The answer of a commit is lost, and the server commits only when the driver has read its saga again: what it read then is
 * not how the saga is.
 */
@PostgresTest
@Tag("P4")
@Timeout(180)
final class LostCommitIT {
    private static final SagaType<Purchase> TRIP = SagaType.named("trip", Purchase.class);

    private final AtomicBoolean losing = new AtomicBoolean();
    private final CountDownLatch readAgain = new CountDownLatch(1);
    private volatile boolean committing;
    private Scene scene;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        scene = Scene.create(schema);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    void a_transactional_step_is_done_once() throws Exception {
        SagaDefinition<Purchase> definition = saga -> saga.named("trip", Purchase.class)
                .version(1)
                .step("pay")
                .transactional((purchase, step, connection) -> {
                    scene.books().inTransaction(step, connection, purchase.amount(), false);
                    losing.set(step.attempt() == 1);
                    return purchase;
                })
                .noCompensation()
                .build();
        Rowlock rowlock = Scene.rowlock(scene.schema(), losing(scene.schema()::connect));
        SagaEngine engine = Scene.engine(rowlock, "default", definition);
        scene.start(engine, rowlock, worker -> {});
        scene.begin(engine, TRIP, Purchase.of("1", ""));
        scene.await("1", SagaStatus.COMPLETED);
        assertThat(readAgain.getCount()).isZero();
        assertThat(scene.invoices("1")).containsExactly("pay 1 0");
    }

    /** Connections of which one loses the answer of its commit, once it is time. */
    private ConnectionSource losing(ConnectionSource source) {
        return () -> {
            Connection real = source.get();
            AtomicBoolean lost = new AtomicBoolean();
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        String name = method.getName();
                        if (lost.get() && !name.equals("isClosed")) {
                            throw new SQLException("the connection is lost", "08006");
                        }
                        if (name.equals("commit") && losing.compareAndSet(true, false)) {
                            lost.set(true);
                            commitLater(real);
                            throw new SQLException("the connection is lost", "08006");
                        }
                        if (name.equals("prepareStatement") && ((String) arguments[0]).contains("rowlock:lock-sagas")) {
                            notedIfAfterLoss();
                        }
                        try {
                            return method.invoke(real, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        };
    }

    private void notedIfAfterLoss() {
        if (committing) {
            readAgain.countDown();
        }
    }

    private void commitLater(Connection real) {
        committing = true;
        Thread server = new Thread(() -> {
            try (real) {
                readAgain.await();
                real.commit();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        server.setDaemon(true);
        server.start();
    }
}
