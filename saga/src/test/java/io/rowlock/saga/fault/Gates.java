package io.rowlock.saga.fault;

import io.rowlock.saga.StepContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Calls that note what they did, {@code saga step}, and of which some wait before they return, deaf to interrupts. */
final class Gates {
    private final List<String> begun = Collections.synchronizedList(new ArrayList<>());
    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private final Set<String> shut = ConcurrentHashMap.newKeySet();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();

    /** Makes this call wait. */
    void shut(String call) {
        shut.add(call);
    }

    void open(String call) {
        gate(call).countDown();
    }

    void openAll() {
        shut.forEach(this::open);
    }

    /** Waits until this call has begun. */
    void awaitBegun(String call) {
        Scene.patiently().until(() -> begun.contains(call));
    }

    /** How often this call began. */
    long begun(String call) {
        return begun.stream().filter(call::equals).count();
    }

    /** What was done, in that order. */
    List<String> done() {
        return List.copyOf(done);
    }

    Purchase call(Purchase purchase, StepContext step) {
        pass(step.sagaId() + ' ' + step.step());
        return purchase.plus(step.step());
    }

    void undo(Purchase purchase, StepContext step) {
        pass(step.sagaId() + " undo-" + step.step());
    }

    private void pass(String call) {
        begun.add(call);
        if (shut.contains(call)) {
            awaitDeaf(gate(call));
        }
        done.add(call);
    }

    private CountDownLatch gate(String call) {
        return gates.computeIfAbsent(call, absent -> new CountDownLatch(1));
    }

    static void awaitDeaf(CountDownLatch latch) {
        boolean waits = true;
        while (waits) {
            try {
                latch.await();
                waits = false;
            } catch (InterruptedException e) {
                waits = true;
            }
        }
    }
}
