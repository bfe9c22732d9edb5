package io.rowlock.saga;

import io.rowlock.job.Kind;
import java.time.Instant;

/** The state of the sagas of these tests. */
record Order(String id, String card, boolean express) {

    /** What starts them. */
    @Kind("order-placed")
    record Placed(String id) {}

    /** What they wait for. */
    record Delivered(Instant at) {}

    /** The state of their child. */
    record Parcel(String order) {}

    /** The state as version 1 wrote it. */
    record Old(String id) {}

    static final SagaSignal<Delivered> DELIVERED = SagaSignal.named("delivered", Delivered.class);
    static final SagaType<Parcel> PARCEL = SagaType.named("parcel", Parcel.class);

    static Order of(String id) {
        return new Order(id, "", false);
    }

    Order with(String newCard) {
        return new Order(id, newCard, express);
    }
}
