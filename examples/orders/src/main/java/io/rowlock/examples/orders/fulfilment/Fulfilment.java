package io.rowlock.examples.orders.fulfilment;

import io.rowlock.examples.orders.order.OrderPlaced;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How far an order is: the state of its saga, recorded after each step.
 *
 * @param order what was ordered
 * @param reservation the warehouse's number for it
 * @param charge the bank's number for it
 * @param shipment the carrier's number for it
 * @param deliveredAt when the customer got it
 */
public record Fulfilment(
        OrderPlaced order,
        @Nullable String reservation,
        @Nullable String charge,
        @Nullable String shipment,
        @Nullable Instant deliveredAt) {

    static Fulfilment of(OrderPlaced order) {
        return new Fulfilment(order, null, null, null, null);
    }

    Fulfilment reserved(String number) {
        return new Fulfilment(order, number, charge, shipment, deliveredAt);
    }

    Fulfilment charged(String number) {
        return new Fulfilment(order, reservation, number, shipment, deliveredAt);
    }

    Fulfilment booked(String number) {
        return new Fulfilment(order, reservation, charge, number, deliveredAt);
    }

    Fulfilment delivered(Instant at) {
        return new Fulfilment(order, reservation, charge, shipment, at);
    }
}
