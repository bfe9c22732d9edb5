package io.rowlock.internal.alert;

import io.rowlock.alert.Alert;
import io.rowlock.alert.AlertSink;
import io.rowlock.alert.AlertSink.Delivery;
import io.rowlock.alert.WebhookSink;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.sql.AlertBookSql;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobKind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.job.Snooze;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.worker.HandlerBinding;
import io.rowlock.worker.HandlerBinding.Leased;
import io.rowlock.worker.HandlerSettings;
import io.rowlock.worker.WorkerSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs that tell sinks of alerts: a kind for each sink, so that workers without it leave them alone (promise P12), in a
 * queue of their own, so that they wait behind no other work. What a sink is told is the alert as it is by then; of one that a
 * person has taken over meanwhile, or that is deleted, it is told nothing. What a sink throws is kept without its words: they
 * may quote the alert, and nobody would find them here when those are to be taken out.
 */
public final class Deliveries {
    private static final Logger LOG = LoggerFactory.getLogger(Deliveries.class);
    private static final String QUEUE = "rowlock-alerts";
    private static final String KIND = "rowlock-alert:";
    private static final int AT_ONCE = 2; // of each sink, so that one that hangs takes no slot of another
    private static final HandlerSettings SETTINGS = new HandlerSettings(
            RetryPolicy.exponential(Duration.ofSeconds(10))
                    .max(Duration.ofMinutes(15))
                    .maxAttempts(100),
            Duration.ofMinutes(1),
            AT_ONCE,
            null,
            List.of());

    private final AlertBookSql sql;
    private final ConnectionSource connections;
    private final Map<String, AlertSink> sinks;

    public Deliveries(Names names, ConnectionSource connections, Map<String, AlertSink> sinks) {
        this.sql = new AlertBookSql(names, List::of);
        this.connections = connections;
        this.sinks = Map.copyOf(sinks);
    }

    /** The queue of all of them. */
    public static String queue() {
        return QUEUE;
    }

    /** The kind of a sink's. */
    static String kind(String sink) {
        return KIND + sink;
    }

    /** Whether the queue may have jobs of the kind: this one has no others, and they are in no other. */
    public static boolean isLane(String queue, String kind) {
        return queue.equals(QUEUE) == kind.startsWith(KIND);
    }

    /**
     * What the worker does, and these beside it.
     *
     * @throws InvalidUseException if it does something under their names
     */
    public WorkerSettings with(WorkerSettings worker) {
        if (worker.queues().containsKey(QUEUE)) {
            throw new InvalidUseException("Queue " + QUEUE + " is Rowlock's own; call alertSink(...) on its builder");
        }
        for (HandlerBinding<?> each : worker.handlers()) {
            if (each.kind().name().startsWith(KIND)
                    || each.kind().aliases().stream().anyMatch(alias -> alias.startsWith(KIND))) {
                throw new InvalidUseException("Kinds that begin with " + KIND + " are Rowlock's own, got "
                        + each.kind().name());
            }
        }
        if (sinks.isEmpty()) {
            return worker;
        }
        Map<String, Integer> queues = new HashMap<>(worker.queues());
        queues.put(QUEUE, AT_ONCE * sinks.size());
        List<HandlerBinding<?>> handlers = new ArrayList<>(worker.handlers());
        sinks.forEach((name, sink) -> handlers.add(binding(name, sink)));
        return new WorkerSettings(
                worker.name(),
                queues,
                handlers,
                worker.timing(),
                worker.retention(),
                worker.executor(),
                worker.extensions(),
                worker.schedules());
    }

    private HandlerBinding<Long> binding(String name, AlertSink sink) {
        return new HandlerBinding<>(
                JobKind.named(kind(name), Long.class),
                new Leased<>((alert, job) -> deliver(name, sink, alert, job)),
                SETTINGS);
    }

    private void deliver(String name, AlertSink sink, long id, JobContext job) throws Exception {
        Optional<Alert> alert = find(id);
        if (alert.isEmpty() || alert.get().acknowledged() != null) {
            LOG.debug("An alert is taken over or gone, and not told any more (alert={}, sink={})", id, name);
            return;
        }
        try {
            sink.tell(alert.get(), new Delivery(job.idempotencyKey(), job.attempt()));
        } catch (InterruptedException | Snooze | VirtualMachineError e) {
            throw e;
        } catch (Throwable e) {
            if (sink instanceof WebhookSink) {
                throw e; // its words are its own
            }
            Exception wordless = Wordless.of(name, e);
            log(id, name, e);
            throw wordless;
        }
    }

    private static void log(long id, String name, Throwable thrown) {
        try {
            LOG.debug("A sink could not be told of an alert (alert={}, sink={})", id, name, thrown);
        } catch (Throwable unspeakable) {
            // what is logged must not change what is done
        }
    }

    /** The connection is back before the sink is told. */
    private Optional<Alert> find(long id) throws SQLException {
        try (Connection connection = connections.get()) {
            connection.setAutoCommit(true);
            return sql.find(connection, id);
        }
    }
}
