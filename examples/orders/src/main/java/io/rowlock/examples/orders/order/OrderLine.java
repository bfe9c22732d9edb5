package io.rowlock.examples.orders.order;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/** One product in an order: how many, and for how much. Lives and dies with its order. */
@Entity
@Table(name = "order_line")
public class OrderLine {
    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private @Nullable Long id;

    @ManyToOne(optional = false, fetch = FetchType.LAZY)
    @JoinColumn(name = "order_id")
    private Order order;

    private int position;

    @Column(nullable = false, length = NewOrder.TEXT_LIMIT)
    private String product;

    @Column(nullable = false, precision = 18, scale = 2)
    private BigDecimal unitPrice;

    private int quantity;

    @Column(nullable = false, precision = 5, scale = 4)
    private BigDecimal discount;

    /** For Hibernate. */
    @SuppressWarnings("NullAway.Init")
    protected OrderLine() {}

    OrderLine(Order order, int position, NewOrder.Item item) {
        this.order = order;
        this.position = position;
        this.product = item.product();
        this.unitPrice = item.unitPrice();
        this.quantity = item.quantity();
        this.discount = item.discount();
    }

    /** Price times quantity less the discount, to the cent. */
    public BigDecimal amount() {
        return unitPrice
                .multiply(BigDecimal.valueOf(quantity))
                .multiply(BigDecimal.ONE.subtract(discount))
                .setScale(2, RoundingMode.HALF_UP);
    }

    public Order order() {
        return order;
    }

    /** Its place in the order, from 1. */
    public int position() {
        return position;
    }

    public String product() {
        return product;
    }

    public BigDecimal unitPrice() {
        return unitPrice;
    }

    public int quantity() {
        return quantity;
    }

    public BigDecimal discount() {
        return discount;
    }
}
