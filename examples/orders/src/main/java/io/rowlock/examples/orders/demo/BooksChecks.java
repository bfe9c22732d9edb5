package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.outside.BankBooks.Charge;
import io.rowlock.examples.orders.outside.WarehouseBooks;
import io.rowlock.examples.orders.outside.WarehouseBooks.Taken;
import io.rowlock.saga.SagaStatus;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * That money, stock and deliveries add up, by the books of those outside. What the sagas say is taken for a claim: that an
 * order is completed, or undone. Whether that is true is never looked up in Rowlock's tables.
 */
final class BooksChecks {
    private final Books books;
    private final Map<Long, BigDecimal> totals;
    private final SagaEnds ends;

    /**
     * What others have written down.
     *
     * @param charges the bank's
     * @param taken the warehouse's
     * @param shelves what the warehouse has left of each product
     * @param deliveries how many the carrier made for each order
     * @param thanks how many mails thanked for each order
     * @param invoices what the shop's own table says was invoiced
     */
    record Books(
            List<Charge> charges,
            List<Taken> taken,
            Map<String, Integer> shelves,
            Map<Long, Integer> deliveries,
            Map<Long, Integer> thanks,
            Map<Long, BigDecimal> invoices) {
        Books {
            charges = List.copyOf(charges);
            taken = List.copyOf(taken);
            shelves = Map.copyOf(shelves);
            deliveries = Map.copyOf(deliveries);
            thanks = Map.copyOf(thanks);
            invoices = Map.copyOf(invoices);
        }
    }

    /**
     * What is compared.
     *
     * @param totals what each order of the shop comes to, as the customers were told
     */
    BooksChecks(Books books, Map<Long, BigDecimal> totals, SagaEnds ends) {
        this.books = books;
        this.totals = totals;
        this.ends = ends;
    }

    List<Check> all() {
        Set<Long> completed = ends.orders(SagaStatus.COMPLETED);
        Set<Long> undone = new TreeSet<>(ends.orders(SagaStatus.COMPENSATED));
        undone.addAll(ends.orders(SagaStatus.RESOLVED));
        return List.of(
                new Check("Every order has a saga, which has ended", notEnded()),
                new Check("Every completed order was charged once, and what it comes to", badlyCharged(completed)),
                new Check("Every completed order has its goods, taken once", notOneTaken(completed)),
                new Check("Every order undone was never charged, or has its money back", stillCharged(undone)),
                new Check("Every order undone has its goods back on the shelf", stillTaken(undone)),
                new Check("No charge and no goods without an order", strangers()),
                new Check("What was taken from the shelves is what completed orders have", shelves()),
                new Check("Invoices and the money kept are the same", invoices()),
                new Check("No order was delivered twice, and none that was undone", deliveries(undone)),
                new Check("Every completed order was thanked for once, no other ever", thanks(completed)));
    }

    private List<String> notEnded() {
        return totals.keySet().stream()
                .sorted()
                .filter(order -> {
                    SagaStatus status = ends.statuses().get(order);
                    return status == null || !status.finished();
                })
                .map(order -> "order " + order + ": " + ends.statuses().get(order))
                .toList();
    }

    private List<String> badlyCharged(Set<Long> completed) {
        List<String> found = new ArrayList<>();
        for (Long order : completed) {
            List<Charge> charges = books.charges().stream()
                    .filter(each -> each.order() == order)
                    .toList();
            BigDecimal total = totals.getOrDefault(order, BigDecimal.ZERO);
            if (charges.size() != 1
                    || charges.get(0).refunded()
                    || charges.get(0).amount().compareTo(total) != 0) {
                found.add("order " + order + " of " + total + " EUR: " + charges);
            }
        }
        return found;
    }

    private List<String> notOneTaken(Set<Long> completed) {
        return completed.stream()
                .filter(order -> taken(order).size() != 1 || taken(order).get(0).putBack())
                .map(order -> "order " + order + ": " + taken(order))
                .toList();
    }

    private List<Taken> taken(long order) {
        return books.taken().stream().filter(each -> each.order() == order).toList();
    }

    private List<String> stillCharged(Set<Long> undone) {
        return books.charges().stream()
                .filter(charge -> undone.contains(charge.order()) && !charge.refunded())
                .map(charge -> "order " + charge.order() + " was charged " + charge.amount() + " EUR")
                .toList();
    }

    private List<String> stillTaken(Set<Long> undone) {
        return books.taken().stream()
                .filter(taken -> undone.contains(taken.order()) && !taken.putBack())
                .map(taken -> "order " + taken.order() + " has " + taken.goods())
                .toList();
    }

    private List<String> strangers() {
        List<String> found = new ArrayList<>();
        books.charges().stream()
                .filter(charge -> !totals.containsKey(charge.order()))
                .forEach(charge -> found.add("a charge for order " + charge.order()));
        books.taken().stream()
                .filter(taken -> !totals.containsKey(taken.order()))
                .forEach(taken -> found.add("goods for order " + taken.order()));
        return found;
    }

    private List<String> shelves() {
        Map<String, Integer> missing = new HashMap<>();
        books.shelves().forEach((product, left) -> missing.put(product, WarehouseBooks.STOCK - left));
        Set<Long> completed = ends.orders(SagaStatus.COMPLETED);
        books.taken().stream()
                .filter(taken -> completed.contains(taken.order()))
                .forEach(taken ->
                        taken.goods().forEach((product, quantity) -> missing.merge(product, -quantity, Integer::sum)));
        return missing.entrySet().stream()
                .filter(each -> each.getValue() != 0)
                .map(each -> each.getValue() + " of " + each.getKey() + " too few on the shelf")
                .sorted()
                .toList();
    }

    private List<String> invoices() {
        List<String> found = new ArrayList<>();
        Map<Long, BigDecimal> kept = new HashMap<>();
        books.charges().stream()
                .filter(charge -> !charge.refunded())
                .forEach(charge -> kept.merge(charge.order(), charge.amount(), BigDecimal::add));
        Set<Long> orders = new TreeSet<>(kept.keySet());
        orders.addAll(books.invoices().keySet());
        for (Long order : orders) {
            BigDecimal invoiced = books.invoices().getOrDefault(order, BigDecimal.ZERO);
            if (invoiced.compareTo(kept.getOrDefault(order, BigDecimal.ZERO)) != 0) {
                found.add("order " + order + ": " + invoiced + " EUR invoiced, "
                        + kept.getOrDefault(order, BigDecimal.ZERO) + " EUR kept");
            }
        }
        return found;
    }

    private List<String> deliveries(Set<Long> undone) {
        return books.deliveries().entrySet().stream()
                .filter(each -> each.getValue() != 1 || undone.contains(each.getKey()))
                .map(each -> "order " + each.getKey() + " was delivered " + each.getValue() + " ×")
                .sorted()
                .toList();
    }

    private List<String> thanks(Set<Long> completed) {
        Set<Long> orders = new TreeSet<>(completed);
        orders.addAll(books.thanks().keySet());
        return orders.stream()
                .filter(order -> books.thanks().getOrDefault(order, 0) != (completed.contains(order) ? 1 : 0))
                .map(order -> "order " + order + " has " + books.thanks().getOrDefault(order, 0) + " mails of thanks")
                .toList();
    }
}
