package io.rowlock.examples.orders.order;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** A product that the shop no longer sells. The rows come from {@code discontinued-products.sql}. */
@Entity
@Table(name = "discontinued_product")
public class DiscontinuedProduct {
    @Id
    private String name;

    /** For Hibernate. */
    @SuppressWarnings("NullAway.Init")
    protected DiscontinuedProduct() {}

    public String name() {
        return name;
    }
}
