package io.rowlock.examples.orders.fulfilment;

import io.rowlock.examples.orders.order.OrderPlaced;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/** The invoice of an order; its number is that of the order, so that there can be no second one. */
@Entity
@Table(name = "invoice")
public class Invoice {
    @Id
    private long number;

    @Column(nullable = false, precision = 18, scale = 2)
    private BigDecimal total;

    private @Nullable String charge;

    /** For Hibernate. */
    @SuppressWarnings("NullAway.Init")
    protected Invoice() {}

    private Invoice(OrderPlaced order, @Nullable String charge) {
        this.number = order.order();
        this.total = order.total();
        this.charge = charge;
    }

    static Invoice of(Fulfilment state) {
        return new Invoice(state.order(), state.charge());
    }

    public long number() {
        return number;
    }

    public BigDecimal total() {
        return total;
    }

    /** The bank's number for the charge. */
    public @Nullable String charge() {
        return charge;
    }
}
