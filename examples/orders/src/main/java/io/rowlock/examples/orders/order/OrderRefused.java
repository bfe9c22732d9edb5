package io.rowlock.examples.orders.order;

/** Thrown when an order breaks a rule of the shop. It ends the transaction, and with it the order and its jobs. */
public final class OrderRefused extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final Rule rule;
    private final String reason;

    OrderRefused(Rule rule, String reason) {
        super(reason);
        this.rule = rule;
        this.reason = reason;
    }

    public Rule rule() {
        return rule;
    }

    public String reason() {
        return reason;
    }

    /** The rule that was broken. */
    public enum Rule {
        DUPLICATE_NUMBER("the order number was taken"),
        CREDIT_LIMIT("above the credit limit"),
        DISCONTINUED_PRODUCT("a product is no longer sold");

        private final String words;

        Rule(String words) {
            this.words = words;
        }

        /** The rule for people. */
        public String words() {
            return words;
        }
    }
}
