package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.order.OrderRefused.Rule;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;

/** What the rows say. Everything a person may want to know of jobs can be asked in SQL. */
final class DemoRows {
    private static final String ORDER_NUMBERS = "select number from orders";

    private static final String REFUSED =
            "select rule, count(*) from refused_order group by rule order by count(*) desc, rule";

    private static final String JOBS = """
            select kind, state, count(*)
            from rowlock_job group by kind, state order by kind, state""";

    private static final String DEAD_JOBS = """
            select kind, payload ->> 'order', attempts, last_error
            from rowlock_job where state = 'dead' order by id""";

    private static final String ALERTS = "select cause, kind, n, reason from rowlock_alert order by id";

    /** Orders whose jobs of one kind are not exactly one. */
    private static final String NOT_ONE_JOB = """
            select 'order ' || o.number || ' has ' || count(j.id) || ' jobs of kind ' || k.kind
            from orders o cross join (values ('order-confirmation'), ('order-placed')) k (kind)
            left join rowlock_job j on j.kind = k.kind and (j.payload ->> 'order')::bigint = o.number
            group by o.number, k.kind having count(j.id) <> 1 order by o.number, k.kind""";

    private static final String JOBS_WITHOUT_ORDER = """
            select 'job ' || j.id || ' of kind ' || j.kind || ' is about order ' || (j.payload ->> 'order')
                || ', which was never committed'
            from rowlock_job j
            where j.kind in ('order-confirmation', 'order-placed') and not exists (select from orders o where o.number = (j.payload ->> 'order')::bigint)
            order by j.id""";

    private static final String STEPS = """
            select step, count(*), sum(attempts), count(*) filter (where status = 'compensated')
            from rowlock_saga_step where branch = '' group by step order by min(started_at), step""";

    private static final String INVOICES = "select number, total from invoice";

    private static final String STUCK = "select coalesce(sum(n), 0) from rowlock_alert where cause = 'saga stuck'";

    private static final String UNFINISHED = """
            select 'job ' || id || ' of kind ' || kind || ' is ' || state || ' after ' || attempts || ' attempts'
                || coalesce(': ' || last_error, '')
            from rowlock_job where state in ('ready', 'parked') order by id""";

    private static final String DEAD_WITHOUT_ALERT = """
            select d.n || ' dead jobs of kind ' || d.kind || ', but ' || coalesce(a.n, 0) || ' deaths in alerts'
            from (select kind, count(*) as n from rowlock_job where state = 'dead' group by kind) d
            left join (select kind, sum(n) as n from rowlock_alert where cause = 'job dead' and reason <> ''
                group by kind) a using (kind)
            where a.n is distinct from d.n order by d.kind""";

    private final DataSource dataSource;

    DemoRows(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** How many jobs of one kind are in one state. */
    record JobCount(String kind, String state, long jobs) {}

    /** One step of the sagas: how many have begun it, in how many attempts, and how many have undone it. */
    record StepCount(String step, long sagas, long attempts, long undone) {}

    record DeadJob(String kind, String order, int attempts, String reason) {}

    record AlertRow(String cause, String kind, long times, String reason) {}

    Set<Long> orderNumbers() throws SQLException {
        return Set.copyOf(query(ORDER_NUMBERS, row -> row.getLong(1)));
    }

    Map<Rule, Long> refused() throws SQLException {
        Map<Rule, Long> byRule = new LinkedHashMap<>();
        query(REFUSED, row -> byRule.put(Rule.valueOf(row.getString(1)), row.getLong(2)));
        return byRule;
    }

    List<JobCount> jobs() throws SQLException {
        return query(JOBS, row -> new JobCount(row.getString(1), row.getString(2), row.getLong(3)));
    }

    List<DeadJob> deadJobs() throws SQLException {
        return query(
                DEAD_JOBS, row -> new DeadJob(row.getString(1), row.getString(2), row.getInt(3), row.getString(4)));
    }

    List<AlertRow> alerts() throws SQLException {
        return query(ALERTS, row -> new AlertRow(row.getString(1), row.getString(2), row.getLong(3), row.getString(4)));
    }

    List<StepCount> steps() throws SQLException {
        return query(STEPS, row -> new StepCount(row.getString(1), row.getLong(2), row.getLong(3), row.getLong(4)));
    }

    /** What was invoiced, by the numbers of orders. */
    Map<Long, BigDecimal> invoices() throws SQLException {
        Map<Long, BigDecimal> all = new LinkedHashMap<>();
        query(INVOICES, row -> all.put(row.getLong(1), row.getBigDecimal(2)));
        return all;
    }

    /** How many sagas alerts say were stuck. */
    long stuckInAlerts() throws SQLException {
        return query(STUCK, row -> row.getLong(1)).get(0);
    }

    List<String> ordersWithoutTheirJobs() throws SQLException {
        return query(NOT_ONE_JOB, row -> row.getString(1));
    }

    List<String> jobsWithoutOrder() throws SQLException {
        return query(JOBS_WITHOUT_ORDER, row -> row.getString(1));
    }

    List<String> unfinished() throws SQLException {
        return query(UNFINISHED, row -> row.getString(1));
    }

    List<String> deadWithoutAlert() throws SQLException {
        return query(DEAD_WITHOUT_ALERT, row -> row.getString(1));
    }

    private <T> List<T> query(String sql, RowReader<T> reader) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet rows = statement.executeQuery()) {
            List<T> all = new ArrayList<>();
            while (rows.next()) {
                all.add(reader.read(rows));
            }
            return all;
        }
    }

    private interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }
}
