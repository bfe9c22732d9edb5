package io.rowlock.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What people did is read again: by whom, to what, when; page by page, each of which looks at so many rows and no more. */
@PostgresTest
final class OperationsReadIT {
    @Kind("step")
    private record Step(int no) {}

    private static final By ADA = new By("ada", "ordered twice");
    private static final By BOB = new By("bob", "mended");

    private TestRowlock rowlock;
    private TestSchema schema;
    private Operations operations;

    @BeforeEach
    void install(TestSchema own) throws Exception {
        schema = own;
        rowlock = TestRowlock.fresh(own);
        operations = rowlock.rowlock().operations();
    }

    private List<String> found(OperationFilter filter) {
        return operations.find(filter, null, 100).operations().stream()
                .map(each -> each.who() + ": " + each.what())
                .toList();
    }

    @Test
    void what_was_done_is_found_by_who_and_what_and_when_and_to_what() throws Exception {
        long first = rowlock.enqueue(new Step(1), options -> options.subject("Order:42"))
                .id();
        long second = rowlock.enqueue(new Step(2)).id();
        rowlock.rowlock().jobs().cancel(first, ADA);
        rowlock.rowlock().jobs().cancel(second, ADA);
        rowlock.rowlock().jobs().revive(first, BOB);
        rowlock.rowlock().queues().pause("mails", BOB);

        assertThat(found(OperationFilter.all()))
                .containsExactly("bob: pause", "bob: revive", "ada: cancel", "ada: cancel");
        assertThat(found(OperationFilter.all().who("ada"))).containsExactly("ada: cancel", "ada: cancel");
        assertThat(found(OperationFilter.all().what("revive"))).containsExactly("bob: revive");
        assertThat(found(OperationFilter.all().job(first))).containsExactly("bob: revive", "ada: cancel");
        assertThat(found(OperationFilter.all().job(first).who("ada"))).containsExactly("ada: cancel");
        assertThat(found(OperationFilter.all().subject("Order:42"))).containsExactly("bob: revive", "ada: cancel");
        assertThat(found(OperationFilter.all().queue("mails"))).containsExactly("bob: pause");
        assertThat(found(OperationFilter.all().saga("mails"))).isEmpty();
        assertThat(found(OperationFilter.all().schedule("mails"))).isEmpty();
        assertThat(found(OperationFilter.all().alert(first))).isEmpty();

        Operation revived = operations
                .find(OperationFilter.all().what("revive"), null, 1)
                .operations()
                .get(0);
        assertThat(revived.why()).isEqualTo("mended");
        assertThat(revived.on()).isEqualTo(new Operation.On(first, null, null, null, null, null, null, null));
        Instant at = revived.at();
        assertThat(found(OperationFilter.all().since(at))).containsExactly("bob: pause", "bob: revive");
        assertThat(found(OperationFilter.all().before(at))).containsExactly("ada: cancel", "ada: cancel");
    }

    @Test
    void what_was_done_to_sagas_schedules_alerts_and_leases_is_found() throws Exception {
        schema.execute("INSERT INTO rowlock_saga (id, name, version, status, state, subject, step)"
                + " VALUES ('s-1', 'orders', 1, 'stuck', '{}', 'Order:7', 'pay')");
        schema.execute(
                "INSERT INTO rowlock_operation (who, why, what, saga, step, schedule, alert, lease) VALUES"
                        + " ('ada', 'w', 'retry', 's-1', 'pay', NULL, NULL, NULL), ('ada', 'w', 'remove', NULL, NULL, 'nightly', NULL, NULL),"
                        + " ('ada', 'w', 'acknowledge', NULL, NULL, NULL, 7, NULL), ('ada', 'w', 'revoke', NULL, NULL, NULL, NULL, 'nightly')");

        assertThat(found(OperationFilter.all().saga("s-1"))).containsExactly("ada: retry");
        assertThat(found(OperationFilter.all().subject("Order:7"))).containsExactly("ada: retry");
        assertThat(found(OperationFilter.all().schedule("nightly"))).containsExactly("ada: remove");
        assertThat(found(OperationFilter.all().alert(7))).containsExactly("ada: acknowledge");
        assertThat(found(OperationFilter.all().lease("nightly"))).containsExactly("ada: revoke");
    }

    @Test
    @Tag("P14")
    void pages_step_over_nothing_and_each_looks_at_so_many_rows_and_no_more() throws Exception {
        schema.execute(
                "INSERT INTO rowlock_operation (who, why, what) SELECT CASE WHEN n % 9000 = 1 THEN 'ada' ELSE 'bot' END,"
                        + " 'w', 'w' || n FROM generate_series(1, 25000) n");

        List<String> all = new ArrayList<>();
        List<Integer> sizes = new ArrayList<>();
        Long after = null;
        do {
            OperationPage page = operations.find(OperationFilter.all().who("ada"), after, 2);
            page.operations().forEach(each -> all.add(each.what()));
            sizes.add(page.operations().size());
            after = page.next().orElse(null);
        } while (after != null);
        assertThat(all).containsExactly("w18001", "w9001", "w1");
        assertThat(sizes).as("10,000 rows are looked at for each page").containsExactly(1, 1, 1);
        assertThat(operations
                        .find(OperationFilter.all().since(Instant.now().plusSeconds(3_600)), null, 2)
                        .next())
                .as("what is older than asked for is not walked")
                .isEmpty();
        OperationPage full = operations.find(OperationFilter.all(), null, 3);
        assertThat(full.operations()).extracting(Operation::what).containsExactly("w25000", "w24999", "w24998");
        assertThat(operations
                        .find(OperationFilter.all(), full.next().orElseThrow(), 1)
                        .operations())
                .extracting(Operation::what)
                .containsExactly("w24997");
    }

    @Test
    void what_nobody_can_have_is_refused_before_any_statement() {
        assertThatThrownBy(() -> operations.find(OperationFilter.all(), null, 0))
                .isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> OperationFilter.all().who(" ")).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> OperationFilter.all().queue("a\u0000")).isInstanceOf(InvalidUseException.class);
        assertThat(operations.find(OperationFilter.all(), null, 1)).isEqualTo(new OperationPage(List.of(), null));
    }
}
