package io.rowlock;

import io.rowlock.alert.AlertLimits;
import io.rowlock.alert.AlertSink;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.SchemaException;
import io.rowlock.event.RowlockListener;
import io.rowlock.internal.outbox.JacksonCodec;
import io.rowlock.internal.schema.UnitProbe;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.JobKind;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AfterCommit;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.HandlerInterceptor;
import io.rowlock.spi.HeaderContributor;
import io.rowlock.spi.PayloadCodec;
import io.rowlock.spi.PersistenceUnitBinding;
import io.rowlock.spi.PersistenceUnitBinding.Attachment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Puts a {@link Rowlock} together. For one thread; sends no SQL but for a persistence unit. Setting one thing twice is
 * an error, except that what is set here wins over the settings of a persistence unit.
 */
public final class RowlockBuilder {
    private static final List<String> SETTINGS =
            List.of("schema", "table-prefix", "max-payload-bytes", "stateless", "bulk");

    private final Map<String, Object> set = new HashMap<>();
    private final List<RowlockListener> listeners = new ArrayList<>();
    private final List<HeaderContributor> contributors = new ArrayList<>();
    private final Map<String, AlertSink> sinks = new LinkedHashMap<>();
    private final List<HandlerInterceptor> interceptors = new ArrayList<>();
    private Map<String, String> unitSettings = Map.of();
    private Consumer<Rowlock> attachment = rowlock -> {};

    RowlockBuilder() {}

    /**
     * Sets where the engine gets its connections: the application's data source, or better one of its own. A worker
     * keeps up to three; transactional handlers take one each.
     *
     * @param dataSource connections to the database of the business rows
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public RowlockBuilder dataSource(DataSource dataSource) {
        if (dataSource == null) {
            throw new InvalidUseException("dataSource must not be null");
        }
        return connections(dataSource::getConnection);
    }

    /**
     * Sets where the engine gets its connections, by a function of one's own.
     *
     * @param connections the function
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public RowlockBuilder connections(ConnectionSource connections) {
        return put("connections", connections);
    }

    /**
     * Sets the schema of Rowlock's tables.
     *
     * @param schema a lower-case identifier of at most 63 characters; {@code public} by default
     * @return this
     * @throws InvalidUseException if not allowed or set twice
     */
    public RowlockBuilder schema(String schema) {
        new Names(schema, "rowlock_");
        return put("schema", schema);
    }

    /**
     * Sets what the names of Rowlock's tables begin with.
     *
     * @param prefix a lower-case identifier of at most 40 characters; {@code rowlock_} by default
     * @return this
     * @throws InvalidUseException if not allowed or set twice
     */
    public RowlockBuilder tablePrefix(String prefix) {
        new Names("public", prefix);
        return put("table-prefix", prefix);
    }

    /**
     * Sets how payloads become JSON.
     *
     * @param codec the codec; a fixed Jackson mapper by default
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public RowlockBuilder codec(PayloadCodec codec) {
        return put("codec", codec);
    }

    /**
     * Limits the size of a payload as JSON.
     *
     * @param bytes 1 to 64 MiB in UTF-8; 2 MiB by default
     * @return this
     * @throws InvalidUseException if out of range or set twice
     */
    public RowlockBuilder maxPayloadBytes(int bytes) {
        return put("max-payload-bytes", checkedLimit(bytes));
    }

    /**
     * Sets what tells Rowlock of the commits of transactions in which jobs are written by {@code outbox.enqueue}: then
     * they wake the workers by themselves.
     *
     * @param afterCommit the application's transactions; none by default
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public RowlockBuilder afterCommit(AfterCommit afterCommit) {
        return put("afterCommit", afterCommit);
    }

    /**
     * Sets whether processes tell each other of commits by NOTIFY, so that a job starts within milliseconds in another
     * process too, instead of at its next poll. All that share the tables should say the same: who does not is neither
     * heard nor hears. Sent after the commits that this Rowlock hears of (a persistence unit's, {@link #afterCommit},
     * {@code wake}), many in one, never in their transactions; over one more connection of the data source, held until a
     * second after the last commit. Workers listen on a connection they have anyway; they need the PostgreSQL driver's own
     * connections, or wrappers of them, and no pooler in transaction mode. A hint only: what is not heard, the poll finds.
     *
     * @param on false by default
     * @return this
     * @throws InvalidUseException if set twice
     */
    public RowlockBuilder notifications(boolean on) {
        return put("notifications", on);
    }

    /**
     * Adds a source of headers, such as tenant, actor or trace, for all jobs that are written from now on.
     *
     * @param contributor asked on the thread that writes a job
     * @return this
     * @throws InvalidUseException if null
     */
    public RowlockBuilder headers(HeaderContributor contributor) {
        if (contributor == null) {
            throw new InvalidUseException("headers must not be null");
        }
        contributors.add(contributor);
        return this;
    }

    /**
     * Sets who may read what jobs, sagas and alerts say, and change jobs, sagas, queues, schedules and alerts, by what this
     * Rowlock gives people for that.
     *
     * @param policy asked each time; everything is allowed by default
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public RowlockBuilder access(AccessPolicy policy) {
        return put("access", policy);
    }

    /**
     * Adds what goes around each attempt of every handler of this Rowlock's workers.
     *
     * @param interceptor inside of those that were added before
     * @return this
     * @throws InvalidUseException if null
     */
    public RowlockBuilder interceptor(HandlerInterceptor interceptor) {
        if (interceptor == null) {
            throw new InvalidUseException("interceptor must not be null");
        }
        interceptors.add(interceptor);
        return this;
    }

    /**
     * Adds a listener.
     *
     * @param listener told of every event
     * @return this
     * @throws InvalidUseException if null
     */
    public RowlockBuilder listener(RowlockListener listener) {
        if (listener == null) {
            throw new InvalidUseException("listener must not be null");
        }
        listeners.add(listener);
        return this;
    }

    /**
     * Adds a sink: told of every alert that any process raises from now on, by jobs in a queue of their own, which the workers of
     * this Rowlock serve beside theirs, two at once; workers cranked by hand, too. All sinks that workers of some process had
     * within the last day are told, each by workers that have it.
     *
     * @param name 1 to 100 characters; the same sink has the same name in all processes
     * @param sink told of alerts
     * @return this
     * @throws InvalidUseException if the name is not allowed or taken, or the sink is null
     */
    public RowlockBuilder alertSink(String name, AlertSink sink) {
        if (sink == null) {
            throw new InvalidUseException("The alert sink must not be null (name=" + name + ")");
        }
        JobKind.named(name, Long.class); // what stands in a kind
        if (name.length() > 100) {
            throw new InvalidUseException("The name of an alert sink must have at most 100 characters, got " + name);
        }
        if (sinks.putIfAbsent(name, sink) != null) {
            throw new InvalidUseException("Alert sink " + name + " is given twice");
        }
        return this;
    }

    /**
     * Sets from when on workers alert of what they see by looking: lags, unknown kinds, pinned snapshots, clocks, lost workers.
     *
     * @param limits {@link AlertLimits#standard()} if never set
     * @return this
     * @throws InvalidUseException if null or set twice
     */
    public RowlockBuilder alertLimits(AlertLimits limits) {
        return put("alertLimits", limits);
    }

    /**
     * Takes the settings of a persistence unit (its properties {@code rowlock.schema}, {@code rowlock.table-prefix},
     * {@code rowlock.max-payload-bytes}), and makes the unit write its jobs through this Rowlock and wake its workers
     * after each commit. {@link #build()} then looks through a connection of the unit whether it leads to the database of
     * the data source; without a data source, whether the tables are there. Several Rowlocks with the same tables may
     * share a unit: its commits wake the workers of all.
     *
     * @param entityManagerFactory a Jakarta Persistence EntityManagerFactory or Hibernate SessionFactory
     * @return this
     * @throws InvalidUseException if no adapter on the class path knows the unit, or a property is unknown or wrong
     */
    public RowlockBuilder persistenceUnit(Object entityManagerFactory) {
        put("unit", entityManagerFactory);
        PersistenceUnitBinding binding = ServiceLoader.load(PersistenceUnitBinding.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(each -> each.accepts(entityManagerFactory))
                .findFirst()
                .orElseThrow(() -> new InvalidUseException("No adapter for "
                        + entityManagerFactory.getClass().getName()
                        + " on the class path; add rowlock-hibernate, or call schema() and tablePrefix() by hand"));
        unitSettings = Map.copyOf(binding.settings(entityManagerFactory));
        unitSettings.keySet().forEach(RowlockBuilder::checkKnown);
        attachment = rowlock -> {
            ConnectionSource own = (ConnectionSource) set.get("connections");
            new UnitProbe(names()).check(binding, entityManagerFactory, own);
            rowlock.register(binding.kinds(entityManagerFactory));
            String tables = names().schema() + '.' + names().prefix();
            binding.attach(
                    entityManagerFactory,
                    new Attachment(tables, rowlock.plainOutbox(), rowlock::wake, rowlock.listener()));
        };
        return this;
    }

    /**
     * Puts the Rowlock together. Without a data source or connections it can enqueue, but not work, install or look up.
     *
     * @return the Rowlock
     * @throws InvalidUseException if something set cannot be, or the persistence unit writes to another database, has a
     *     kind that stands for two payload types, or has a Rowlock with other tables already
     * @throws SchemaException if there is no data source, and the persistence unit finds no tables
     * @throws DatabaseException if the persistence unit could not be checked
     */
    public Rowlock build() {
        if (notifications() && !set.containsKey("connections")) {
            throw new InvalidUseException(
                    "Notifications are sent over a connection of Rowlock's own; call dataSource(...) too");
        }
        Rowlock rowlock = new Rowlock(this);
        attachment.accept(rowlock);
        return rowlock;
    }

    Names names() {
        return new Names(setting("schema", "public"), setting("table-prefix", "rowlock_"));
    }

    ConnectionSource connections() {
        ConnectionSource none = () -> {
            throw new InvalidUseException("This Rowlock has no data source; call dataSource(...) on its builder");
        };
        return (ConnectionSource) set.getOrDefault("connections", none);
    }

    PayloadCodec codec() {
        return (PayloadCodec) set.getOrDefault("codec", new JacksonCodec());
    }

    Optional<AfterCommit> afterCommit() {
        return Optional.ofNullable((AfterCommit) set.get("afterCommit"));
    }

    AccessPolicy access() {
        AccessPolicy everything = access -> true;
        return (AccessPolicy) set.getOrDefault("access", everything);
    }

    boolean notifications() {
        return Boolean.TRUE.equals(set.get("notifications"));
    }

    int maxPayloadBytes() {
        if (set.get("max-payload-bytes") instanceof Integer bytes) {
            return bytes;
        }
        String text = unitSettings.getOrDefault("max-payload-bytes", String.valueOf(2 << 20));
        try {
            return checkedLimit(Integer.parseInt(text));
        } catch (NumberFormatException e) {
            throw new InvalidUseException("rowlock.max-payload-bytes must be a whole number, got " + text, e);
        }
    }

    List<HeaderContributor> contributors() {
        return List.copyOf(contributors);
    }

    Map<String, AlertSink> sinks() {
        return Collections.unmodifiableMap(sinks);
    }

    AlertLimits alertLimits() {
        return (AlertLimits) set.getOrDefault("alertLimits", AlertLimits.standard());
    }

    List<HandlerInterceptor> interceptors() {
        return List.copyOf(interceptors);
    }

    List<RowlockListener> listeners() {
        return List.copyOf(listeners);
    }

    private String setting(String name, String byDefault) {
        return set.get(name) instanceof String text ? text : unitSettings.getOrDefault(name, byDefault);
    }

    private static int checkedLimit(int bytes) {
        if (bytes < 1 || bytes > 64 << 20) {
            throw new InvalidUseException("maxPayloadBytes must be between 1 and " + (64 << 20) + ", got " + bytes);
        }
        return bytes;
    }

    private static void checkKnown(String setting) {
        if (!SETTINGS.contains(setting)) {
            throw new InvalidUseException(
                    "Unknown persistence-unit property rowlock." + setting + "; known are " + SETTINGS);
        }
    }

    private RowlockBuilder put(String option, @Nullable Object value) {
        if (value == null) {
            throw new InvalidUseException(option + " must not be null");
        }
        if (set.putIfAbsent(option, value) != null) {
            throw new InvalidUseException(option + " is set twice");
        }
        return this;
    }
}
