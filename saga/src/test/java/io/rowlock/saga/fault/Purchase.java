package io.rowlock.saga.fault;

import java.util.ArrayList;
import java.util.List;

/**
 * The state of the sagas of these tests.
 *
 * @param trouble what happens to which call, as a test understands it
 * @param log the steps that were done, with whoever did them
 */
record Purchase(String id, long amount, String trouble, List<String> log) {
    static Purchase of(String id, String trouble) {
        return new Purchase(id, 7, trouble, List.of());
    }

    Purchase plus(String entry) {
        List<String> longer = new ArrayList<>(log);
        longer.add(entry);
        return new Purchase(id, amount, trouble, longer);
    }
}
