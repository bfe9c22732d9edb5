package io.rowlock.testkit.cost;

import io.rowlock.testkit.cost.Meter.StatementCost;
import io.rowlock.testkit.postgres.TcpProxy;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;

/**
 * A schema, and work whose cost is counted. The work is done some times before, so that statements are prepared and their
 * plans chosen, the tables vacuumed before each time; then once more, counted. Not safe for use by several threads.
 */
public final class CostScene implements AutoCloseable {
    /** The driver prepares the sixth execution on the server, which may choose another plan for the sixth of those. */
    private static final int EXECUTIONS = 12;

    private final String name;
    private final TestSchema schema;
    private final TcpProxy proxy;
    private final KeptConnections connections;
    private final Meter meter;
    private int roundsBefore = EXECUTIONS;
    private Step before = () -> {};
    private Step after = () -> {};

    CostScene(String name, TestSchema schema, TcpProxy proxy) throws SQLException {
        this.name = name;
        this.schema = schema;
        this.proxy = proxy;
        this.connections = new KeptConnections(proxy.dataSource(schema));
        this.meter = new Meter(schema);
    }

    /** Something done in a scene. */
    @FunctionalInterface
    public interface Step {
        /**
         * Does it.
         *
         * @throws Exception what the test should fail of
         */
        void run() throws Exception;
    }

    /**
     * The schema, reached without the proxy: what is done over it while nothing is counted costs nothing.
     *
     * @return never null
     */
    public TestSchema schema() {
        return schema;
    }

    /**
     * Connections through the proxy, kept when closed.
     *
     * @return the same each time
     */
    public DataSource dataSource() {
        return connections;
    }

    /**
     * What to do before the work, each time, uncounted.
     *
     * @param step such as writing the jobs
     * @return this
     */
    public CostScene before(Step step) {
        before = step;
        return this;
    }

    /**
     * What to do after the work, each time, uncounted; then the tables are vacuumed.
     *
     * @param step such as ending the jobs
     * @return this
     */
    public CostScene after(Step step) {
        after = step;
        return this;
    }

    /**
     * Of work that runs each of its statements a dozen times anyway: two rounds before the counted one are enough.
     *
     * @return this
     */
    public CostScene ofRepetitions() {
        roundsBefore = 2;
        return this;
    }

    /**
     * Does the work and counts it. What it sends goes over {@link #dataSource()}, by whatever threads, and has been answered
     * when it returns.
     *
     * @param units for how many it is done, at least 1
     * @param unit of what, such as {@code jobs}
     * @param work the work
     * @return what it cost
     * @throws Exception of the work, or {@link SQLException} if the server could not be asked
     */
    public Cost measure(long units, String unit, Step work) throws Exception {
        for (int i = 0; i < roundsBefore; i++) {
            before.run();
            work.run();
            after.run();
            meter.vacuum();
        }
        before.run();
        Map<String, Long> counts = counted(work);
        after.run();
        return new Cost(name, units, unit, counts);
    }

    private Map<String, Long> counted(Step work) throws Exception {
        connections.report();
        long updates = meter.updates();
        long hot = meter.hotUpdates();
        Queue<String> spoken = new ConcurrentLinkedQueue<>();
        proxy.tell(spoken::add);
        meter.forgetStatements();
        long roundTrips = proxy.roundTrips();
        long wal = meter.position();
        work.run();
        wal = meter.position() - wal;
        roundTrips = proxy.roundTrips() - roundTrips;
        proxy.tell(sql -> {});
        Map<String, StatementCost> statements = meter.statements();
        connections.report();
        updates = meter.updates() - updates;
        hot = meter.hotUpdates() - hot;
        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put(Cost.ROUND_TRIPS, roundTrips);
        counts.put(Cost.STATEMENTS, (long) spoken.size());
        counts.put(Cost.UPDATES, updates);
        counts.put(Cost.COLD_UPDATES, updates - hot);
        counts.put(
                Cost.BUFFERS,
                statements.values().stream().mapToLong(StatementCost::buffers).sum());
        counts.put(Cost.WAL, wal);
        calls(spoken).forEach((name, calls) -> {
            StatementCost cost = statements.getOrDefault(name, StatementCost.NOTHING);
            put(counts, Cost.of(name, Cost.CALLS), calls);
            put(counts, Cost.of(name, Cost.BUFFERS), cost.buffers());
            put(counts, Cost.of(name, Cost.WAL), cost.wal());
        });
        return counts;
    }

    private SortedMap<String, Long> calls(Collection<String> spoken) {
        SortedMap<String, Long> calls = new TreeMap<>();
        spoken.forEach(sql -> calls.merge(meter.name(sql), 1L, Long::sum));
        return calls;
    }

    private static void put(Map<String, Long> counts, String name, long count) {
        if (count > 0) {
            counts.put(name, count);
        }
    }

    /** Closes the connections and drops the schema. */
    @Override
    public void close() throws SQLException {
        connections.close();
        meter.close();
        schema.drop();
    }
}
