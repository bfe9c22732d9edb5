package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.demo.Mailbox.Received;
import io.rowlock.examples.orders.demo.OrderSender.Answers;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the demo promises, checked against the rows and the mails; {@link BooksChecks} look at the books of those outside.
 *
 * <p>That each order has exactly one mail is more than Rowlock promises for SMTP (see {@code MailSender}); it holds
 * here because nothing crashes while the demo runs.
 */
final class DemoChecks {
    private final DemoRows rows;
    private final Answers answers;

    DemoChecks(DemoRows rows, Answers answers) {
        this.rows = rows;
        this.answers = answers;
    }

    /**
     * All checks.
     *
     * @param received the mails
     * @param stuck how many sagas a person found stuck
     */
    List<Check> all(Received received, int stuck) throws SQLException {
        Set<Long> committed = rows.orderNumbers();
        return List.of(
                new Check("Nothing is left to do", rows.unfinished()),
                new Check("Every answer of the shop agrees with the rows", disagreements(committed)),
                new Check("Every committed order has exactly one job of each kind", rows.ordersWithoutTheirJobs()),
                new Check(
                        "Every committed order has exactly one confirmation",
                        notOne(committed, received.confirmations())),
                new Check("No rolled-back order has a job", rows.jobsWithoutOrder()),
                new Check("No rolled-back order has a confirmation", strangers(committed, received)),
                new Check("Every dead job has an alert with its reason", rows.deadWithoutAlert()),
                new Check("Every saga that was stuck has called for a person", uncalled(stuck)));
    }

    private List<String> uncalled(int stuck) throws SQLException {
        long called = rows.stuckInAlerts();
        return called == stuck ? List.of() : List.of(stuck + " sagas were stuck, but alerts say " + called);
    }

    private List<String> disagreements(Set<Long> committed) throws SQLException {
        List<String> found = new ArrayList<>(answers.failures());
        answers.accepted().keySet().stream()
                .filter(number -> !committed.contains(number))
                .forEach(number -> found.add("order " + number + " was accepted, but is not there"));
        committed.stream()
                .filter(number -> !answers.accepted().containsKey(number))
                .forEach(number -> found.add("order " + number + " is there, but was not accepted"));
        long noted = rows.refused().values().stream().mapToLong(Long::longValue).sum();
        if (noted != answers.refused().size()) {
            found.add(answers.refused().size() + " orders were refused, but " + noted + " refusals are noted");
        }
        return found;
    }

    private static List<String> notOne(Set<Long> orders, Map<Long, Integer> counts) {
        return orders.stream()
                .filter(number -> counts.getOrDefault(number, 0) != 1)
                .sorted()
                .map(number -> "order " + number + " has " + counts.getOrDefault(number, 0))
                .toList();
    }

    /** Mails for orders that are not there, or, for a number that was refused and is there, one mail too many. */
    private static List<String> strangers(Set<Long> committed, Received received) {
        List<String> found = new ArrayList<>(received.confirmations().keySet().stream()
                .filter(number -> !committed.contains(number))
                .sorted()
                .map(number -> "a mail about order " + number + ", which was rolled back")
                .toList());
        int confirmations = Received.sum(received.confirmations());
        if (confirmations > committed.size()) {
            found.add(confirmations + " mails for " + committed.size() + " orders");
        }
        return found;
    }
}
