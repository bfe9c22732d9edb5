package io.rowlock.examples.orders.demo;

import io.rowlock.job.By;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Anna at the shop's desk. The sagas that are stuck, as the carrier would not take the goods and the money cannot go back by
 * itself any more, wait for her; she helps each in one of three ways, and every time says who she is and why she does it.
 */
final class Person {
    private static final String STEP = "book-shipment";

    private final SagaOperations operations;
    private final World world;
    private final List<Deed> deeds = new ArrayList<>();

    /** What she did, to which saga. */
    record Deed(String saga, String words) {}

    Person(SagaOperations operations, World world) {
        this.operations = operations;
        this.world = world;
    }

    /** Helps all that need her; answers what she did. */
    List<Deed> help() {
        List<SagaView> stuck = new ArrayList<>(
                operations.find(SagaQuery.all().needsPerson().pageSize(1_000)).sagas());
        stuck.sort(Comparator.comparingLong(SagaEnds::order));
        for (int i = 0; i < stuck.size(); i++) {
            help(stuck.get(i), i % 3);
        }
        return List.copyOf(deeds);
    }

    private void help(SagaView saga, int way) {
        long order = SagaEnds.order(saga);
        switch (way) {
            case 0 -> {
                world.carrier().books().agreeTo(order);
                done(saga, "tried again", operations.retry(saga.id(), by("the carrier has agreed to go there")));
            }
            case 1 -> {
                By by = by("brought there by my brother's boat");
                done(saga, "delivered by hand", operations.resolve(saga.id(), STEP, null, by));
                world.carrier().reports().tell(order, 1); // as the carrier would
            }
            default -> {
                world.bank().books().refundByHand(order);
                world.warehouse().books().putBackByHand(order);
                done(saga, "given up", operations.resolveWhole(saga.id(), by("refunded, and the goods put back")));
            }
        }
    }

    private void done(SagaView saga, String what, SagaAnswer answer) {
        String words = "order " + SagaEnds.order(saga) + " was " + what;
        deeds.add(new Deed(saga.id(), words + (answer == SagaAnswer.DONE ? "" : ", but: " + answer)));
    }

    private static By by(String why) {
        return new By("Anna", why);
    }
}
