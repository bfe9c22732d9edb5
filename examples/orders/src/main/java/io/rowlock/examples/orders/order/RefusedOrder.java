package io.rowlock.examples.orders.order;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.jspecify.annotations.Nullable;

/** The shop's note that it refused an order: all that is left of a transaction that was rolled back. */
@Entity
@Table(name = "refused_order")
public class RefusedOrder {
    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private @Nullable Long id;

    private long number;

    @Enumerated(EnumType.STRING)
    @Column(nullable = false, length = 40)
    private OrderRefused.Rule rule;

    @Column(nullable = false, length = 1000)
    private String reason;

    /** For Hibernate. */
    @SuppressWarnings("NullAway.Init")
    protected RefusedOrder() {}

    RefusedOrder(long number, OrderRefused refusal) {
        this.number = number;
        this.rule = refusal.rule();
        this.reason = refusal.reason();
    }

    public long number() {
        return number;
    }

    public OrderRefused.Rule rule() {
        return rule;
    }

    public String reason() {
        return reason;
    }
}
