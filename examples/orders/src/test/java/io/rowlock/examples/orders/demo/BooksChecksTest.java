package io.rowlock.examples.orders.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.examples.orders.outside.BankBooks.Charge;
import io.rowlock.examples.orders.outside.WarehouseBooks;
import io.rowlock.examples.orders.outside.WarehouseBooks.Taken;
import io.rowlock.saga.SagaStatus;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** That each check of the books can fail: order 1 was completed, 2 and 3 were undone, and then something is off. */
class BooksChecksTest {
    private static final BigDecimal TEN = BigDecimal.TEN;

    private final Map<Long, SagaStatus> ends =
            new HashMap<>(Map.of(1L, SagaStatus.COMPLETED, 2L, SagaStatus.COMPENSATED, 3L, SagaStatus.RESOLVED));
    private final List<Charge> charges =
            new ArrayList<>(List.of(new Charge(1, new BigDecimal("10.00"), false), new Charge(2, TEN, true)));
    private final List<Taken> taken =
            new ArrayList<>(List.of(new Taken(1, Map.of("oar", 2), false), new Taken(2, Map.of("oar", 1), true)));
    private final Map<String, Integer> shelves = new HashMap<>(Map.of("oar", WarehouseBooks.STOCK - 2));
    private final Map<Long, Integer> deliveries = new HashMap<>(Map.of(1L, 1));
    private final Map<Long, Integer> thanks = new HashMap<>(Map.of(1L, 1));
    private final Map<Long, BigDecimal> invoices = new HashMap<>(Map.of(1L, TEN));

    @Test
    void nothing_is_found_where_nothing_is_wrong() {
        assertThat(violations()).isEmpty();
    }

    @Test
    void a_saga_that_is_missing_or_has_not_ended() {
        ends.remove(2L);
        ends.put(3L, SagaStatus.STUCK);

        assertThat(violations()).containsExactly("order 2: null", "order 3: STUCK");
    }

    @Test
    void a_completed_order_that_was_charged_twice() {
        charges.add(new Charge(1, TEN, true));

        assertThat(violations()).hasSize(1).first().asString().startsWith("order 1 of 10 EUR: ");
    }

    @Test
    void a_completed_order_that_paid_too_little_or_has_its_money_back() {
        charges.set(0, new Charge(1, BigDecimal.ONE, false));
        assertThat(violations()).hasSize(2).contains("order 1: 10 EUR invoiced, 1 EUR kept");

        charges.set(0, new Charge(1, TEN, true));
        assertThat(violations()).hasSize(2).contains("order 1: 10 EUR invoiced, 0 EUR kept");
    }

    @Test
    void an_order_undone_that_was_charged_or_has_goods() {
        charges.set(1, new Charge(2, TEN, false));
        taken.set(1, new Taken(2, Map.of("oar", 1), false));

        assertThat(violations())
                .containsExactly(
                        "order 2 was charged 10 EUR", "order 2 has {oar=1}", "order 2: 0 EUR invoiced, 10 EUR kept");
    }

    @Test
    void a_completed_order_whose_goods_were_taken_twice_or_put_back() {
        taken.add(new Taken(1, Map.of("oar", 2), false));
        assertThat(violations()).hasSize(2).contains("-2 of oar too few on the shelf");

        taken.clear();
        taken.add(new Taken(1, Map.of("oar", 2), true));
        assertThat(violations()).hasSize(1).first().asString().startsWith("order 1: ");
    }

    @Test
    void a_charge_and_goods_of_no_order() {
        charges.add(new Charge(9, TEN, true));
        taken.add(new Taken(9, Map.of("oar", 1), true));

        assertThat(violations()).containsExactly("a charge for order 9", "goods for order 9");
    }

    @Test
    void a_shelf_with_too_little_on_it() {
        shelves.put("oar", WarehouseBooks.STOCK - 3);

        assertThat(violations()).containsExactly("1 of oar too few on the shelf");
    }

    @Test
    void a_delivery_too_many() {
        deliveries.put(1L, 2);
        deliveries.put(2L, 1);

        assertThat(violations()).containsExactly("order 1 was delivered 2 ×", "order 2 was delivered 1 ×");
    }

    @Test
    void thanks_too_few_and_too_many() {
        thanks.clear();
        thanks.put(3L, 1);

        assertThat(violations()).containsExactly("order 1 has 0 mails of thanks", "order 3 has 1 mails of thanks");
    }

    private List<String> violations() {
        BooksChecks.Books books = new BooksChecks.Books(charges, taken, shelves, deliveries, thanks, invoices);
        Map<Long, BigDecimal> totals = Map.of(1L, TEN, 2L, TEN, 3L, TEN);
        return new BooksChecks(books, totals, new SagaEnds(ends))
                .all().stream().flatMap(check -> check.violations().stream()).toList();
    }
}
