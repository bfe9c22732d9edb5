package io.rowlock.saga.fault;

import io.rowlock.saga.StepContext;

/** What happens around a call, before and after its effect. Calls are named like their steps; those that undo them {@code undo-...}. */
interface Around {
    default void before(String call, Purchase purchase, StepContext step) throws Exception {}

    default void after(String call, Purchase purchase, StepContext step) throws Exception {}

    static String name(StepContext step, boolean undo) {
        return (undo ? "undo-" : "") + step.step();
    }
}
