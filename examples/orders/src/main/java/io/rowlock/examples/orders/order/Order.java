package io.rowlock.examples.orders.order;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import jakarta.persistence.UniqueConstraint;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One order. Storing it makes two jobs, by the annotations on {@link #confirmation} and {@link #placed}: their
 * rows are written by the flush that inserts the order, in the same transaction, and so share its fate.
 */
@Entity
@Table(name = "orders", uniqueConstraints = @UniqueConstraint(name = Order.NUMBER_IS_UNIQUE, columnNames = "number"))
public class Order {
    static final String NUMBER_IS_UNIQUE = "orders_number_is_unique";

    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private @Nullable Long id;

    private long number;

    @Column(nullable = false, length = NewOrder.TEXT_LIMIT)
    private String customer;

    @Column(nullable = false, length = NewOrder.TEXT_LIMIT)
    private String email;

    @Column(nullable = false, length = NewOrder.TEXT_LIMIT)
    private String country;

    @Column(nullable = false)
    private LocalDate placedOn;

    @Column(nullable = false)
    private LocalDate requiredOn;

    private @Nullable Instant deliveredAt;

    @Column(nullable = false, precision = 18, scale = 2)
    private BigDecimal freight;

    @OneToMany(mappedBy = "order", cascade = CascadeType.ALL, orphanRemoval = true)
    @OrderBy("position")
    private List<OrderLine> lines = new ArrayList<>();

    /** For Hibernate. */
    @SuppressWarnings("NullAway.Init")
    protected Order() {}

    private Order(NewOrder wanted) {
        number = wanted.order();
        customer = wanted.customer();
        email = wanted.email();
        country = wanted.country();
        placedOn = wanted.placedOn();
        requiredOn = wanted.requiredOn();
        freight = wanted.freight();
    }

    /** A new order with its lines, not yet stored. */
    public static Order of(NewOrder wanted) {
        Order order = new Order(wanted);
        for (NewOrder.Item item : wanted.items()) {
            order.lines.add(new OrderLine(order, order.lines.size() + 1, item));
        }
        return order;
    }

    /** The mail to the customer. */
    @OutboxJob(on = Change.PERSIST)
    OrderConfirmation confirmation() {
        List<OrderConfirmation.Line> mailed = lines.stream()
                .map(line -> new OrderConfirmation.Line(line.product(), line.quantity(), line.amount()))
                .toList();
        return new OrderConfirmation(number, customer, email, mailed, freight, total());
    }

    /** What starts the fulfilment. */
    @OutboxJob(on = Change.PERSIST)
    OrderPlaced placed() {
        List<OrderPlaced.Item> items = lines.stream()
                .map(line -> new OrderPlaced.Item(line.product(), line.quantity()))
                .toList();
        return new OrderPlaced(number, customer, email, country, total(), items);
    }

    /** The customer has it; if that is said twice, the first time counts. */
    public void delivered(Instant at) {
        deliveredAt = deliveredAt == null ? at : deliveredAt;
    }

    /** What the customer pays: all lines and the freight, to the cent. */
    public BigDecimal total() {
        return lines.stream().map(OrderLine::amount).reduce(freight, BigDecimal::add);
    }

    public @Nullable Long id() {
        return id;
    }

    public long number() {
        return number;
    }

    public String customer() {
        return customer;
    }

    public String email() {
        return email;
    }

    public String country() {
        return country;
    }

    public LocalDate placedOn() {
        return placedOn;
    }

    public LocalDate requiredOn() {
        return requiredOn;
    }

    public @Nullable Instant deliveredAt() {
        return deliveredAt;
    }

    public BigDecimal freight() {
        return freight;
    }

    public List<OrderLine> lines() {
        return List.copyOf(lines);
    }
}
