package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.fulfilment.OrderFulfilment;
import io.rowlock.saga.SagaCursor;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.SagaPage;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaView;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * How the sagas of all orders stand.
 *
 * @param statuses by the number of the order
 */
record SagaEnds(Map<Long, SagaStatus> statuses) {
    SagaEnds {
        statuses = Map.copyOf(statuses);
    }

    /** Reads them, page by page. */
    static SagaEnds read(SagaOperations operations) {
        Map<Long, SagaStatus> statuses = new TreeMap<>();
        SagaCursor after = null;
        do {
            SagaQuery query = SagaQuery.all().name(OrderFulfilment.TYPE.name()).pageSize(1_000);
            SagaPage page = operations.find(after == null ? query : query.after(after));
            page.sagas().forEach(saga -> statuses.put(order(saga), saga.status()));
            after = next(page);
        } while (after != null);
        return new SagaEnds(statuses);
    }

    private static @Nullable SagaCursor next(SagaPage page) {
        return page.next().orElse(null);
    }

    /** The order a saga is about. */
    static long order(SagaView saga) {
        String key = Objects.requireNonNull(saga.keys().businessKey(), "a fulfilment has a business key");
        return Long.parseLong(key.substring(OrderFulfilment.businessKey(0).length() - 1));
    }

    Set<Long> orders(SagaStatus status) {
        Set<Long> orders = new TreeSet<>();
        statuses.forEach((order, its) -> {
            if (its == status) {
                orders.add(order);
            }
        });
        return orders;
    }

    Map<SagaStatus, Integer> counts() {
        Map<SagaStatus, Integer> counts = new EnumMap<>(SagaStatus.class);
        statuses.values().forEach(status -> counts.merge(status, 1, Integer::sum));
        return counts;
    }
}
