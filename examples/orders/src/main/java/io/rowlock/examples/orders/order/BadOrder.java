package io.rowlock.examples.orders.order;

import java.util.List;

/** Thrown when a text is no order: names everything that is wrong with it, and what was expected instead. */
public final class BadOrder extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // List.copyOf is serializable
    private final List<String> problems;

    BadOrder(List<String> problems) {
        super(String.join("; ", problems));
        this.problems = List.copyOf(problems);
    }

    public List<String> problems() {
        return problems;
    }
}
