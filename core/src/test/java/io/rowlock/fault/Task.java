package io.rowlock.fault;

import io.rowlock.job.Kind;

/**
 * A job whose payload says what its handler does.
 *
 * @param name how the test and its gate know it
 * @param waits whether it waits for its gate first
 * @param end what it does then
 * @param times in how many first runs it ends so; in later ones it returns
 */
@Kind("task")
record Task(String name, Waits waits, End end, int times) {
    enum Waits {
        NO,
        /** For a twentieth of a second. */
        A_WHILE,
        /** Until its gate opens or its thread is interrupted. */
        AT_GATE,
        /** Until its gate opens, whatever interrupts it. */
        STUBBORNLY
    }

    enum End {
        RETURN,
        THROW,
        FAIL_FOR_GOOD,
        SNOOZE,
        HALT_THE_JVM
    }

    static Task quick(String name) {
        return new Task(name, Waits.NO, End.RETURN, 0);
    }

    static Task lingering(String name) {
        return new Task(name, Waits.A_WHILE, End.RETURN, 0);
    }

    static Task waiting(String name) {
        return new Task(name, Waits.AT_GATE, End.RETURN, 0);
    }

    static Task stubborn(String name) {
        return new Task(name, Waits.STUBBORNLY, End.RETURN, 0);
    }

    /** Ends so in every run. */
    Task then(End other) {
        return then(other, Integer.MAX_VALUE);
    }

    /** Ends so in the first runs. */
    Task then(End other, int runs) {
        return new Task(name, waits, other, runs);
    }
}
