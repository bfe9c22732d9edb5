package io.rowlock.examples.orders.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.examples.orders.demo.Mailbox.Received;
import io.rowlock.examples.orders.demo.OrderSender.Answers;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** That each check of the demo can fail: orders 1 and 2 were committed, 3 was rolled back, and then something is off. */
@PostgresTest
class DemoChecksIT {
    private final Map<Long, Integer> mails = new HashMap<>(Map.of(1L, 1, 2L, 1));
    private Answers answers = answers(Set.of(1L, 2L), List.of(3L), List.of());
    private int stuck = 1;

    @BeforeEach
    void all_is_well(TestSchema schema) throws SQLException {
        Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build()
                .schema()
                .install();
        schema.execute(
                "truncate rowlock_job, rowlock_job_failure, rowlock_alert restart identity; drop table if exists orders, refused_order");
        schema.execute("create table orders (number bigint)");
        schema.execute("create table refused_order (rule text)");
        schema.execute("insert into orders values (1), (2)");
        schema.execute("insert into refused_order values ('CREDIT_LIMIT')");
        job(schema, "order-confirmation", 1, "completed");
        job(schema, "order-confirmation", 2, "completed");
        job(schema, "order-placed", 1, "completed");
        job(schema, "order-placed", 2, "dead");
        schema.execute(
                "insert into rowlock_alert (bucket, cause, kind, reason)"
                        + " values (now(), 'job dead', 'order-placed', 'refused'), (now(), 'saga stuck', 'order-fulfilment', 'no')");
    }

    @Test
    void nothing_is_found_where_nothing_is_wrong(TestSchema schema) throws Exception {
        assertThat(violations(schema)).isEmpty();
    }

    @Test
    void a_job_that_still_waits(TestSchema schema) throws Exception {
        schema.execute("update rowlock_job set state = 'ready', finished_at = null, last_error = 'busy'"
                + " where kind = 'order-confirmation' and payload ->> 'order' = '1'");

        assertThat(violations(schema))
                .containsExactly("job 1 of kind order-confirmation is ready after 0 attempts: busy");
    }

    @Test
    void an_order_accepted_and_not_there(TestSchema schema) throws Exception {
        answers = answers(Set.of(1L, 2L, 4L), List.of(3L), List.of("line 5: no answer"));

        assertThat(violations(schema)).containsExactly("line 5: no answer", "order 4 was accepted, but is not there");
    }

    @Test
    void an_order_there_and_not_accepted_and_a_refusal_not_noted(TestSchema schema) throws Exception {
        answers = answers(Set.of(1L), List.of(3L, 4L), List.of());

        assertThat(violations(schema))
                .containsExactly(
                        "order 2 is there, but was not accepted", "2 orders were refused, but 1 refusals are noted");
    }

    @Test
    void an_order_with_a_job_too_few_or_too_many(TestSchema schema) throws Exception {
        schema.execute("delete from rowlock_job where id = 2");
        job(schema, "order-confirmation", 1, "completed");

        assertThat(violations(schema))
                .containsExactly(
                        "order 1 has 2 jobs of kind order-confirmation",
                        "order 2 has 0 jobs of kind order-confirmation");
    }

    @Test
    void an_order_with_a_mail_too_few_or_too_many(TestSchema schema) throws Exception {
        mails.put(1L, 2);
        mails.remove(2L);

        assertThat(violations(schema)).containsExactly("order 1 has 2", "order 2 has 0");
    }

    @Test
    void a_job_and_a_mail_of_a_rolled_back_order(TestSchema schema) throws Exception {
        job(schema, "order-confirmation", 3, "completed");
        mails.put(3L, 1);

        assertThat(violations(schema))
                .containsExactly(
                        "job 5 of kind order-confirmation is about order 3, which was never committed",
                        "a mail about order 3, which was rolled back",
                        "3 mails for 2 orders");
    }

    @Test
    void a_death_without_an_alert(TestSchema schema) throws Exception {
        schema.execute("delete from rowlock_alert where cause = 'job dead'");

        assertThat(violations(schema)).containsExactly("1 dead jobs of kind order-placed, but 0 deaths in alerts");
    }

    @Test
    void a_stuck_saga_without_an_alert(TestSchema schema) throws Exception {
        stuck = 2;

        assertThat(violations(schema)).containsExactly("2 sagas were stuck, but alerts say 1");
    }

    private List<String> violations(TestSchema schema) throws SQLException {
        return new DemoChecks(new DemoRows(schema.dataSource()), answers)
                .all(new Received(mails, Map.of(), 0), stuck).stream()
                        .flatMap(check -> check.violations().stream())
                        .toList();
    }

    private static Answers answers(Set<Long> accepted, List<Long> refused, List<String> failures) {
        Map<Long, BigDecimal> totals = new HashMap<>();
        accepted.forEach(order -> totals.put(order, BigDecimal.TEN));
        return new Answers(totals, refused, failures);
    }

    private static void job(TestSchema schema, String kind, long order, String state) throws SQLException {
        schema.execute(
                "insert into rowlock_job (kind, payload, state, finished_at) values (?, ?::json, ?, now())",
                kind,
                "{\"order\": " + order + "}",
                state);
    }
}
