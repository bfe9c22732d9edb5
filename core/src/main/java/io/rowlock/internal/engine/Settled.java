package io.rowlock.internal.engine;

import io.rowlock.internal.sql.OutcomeSql.Grip;

/** A job whose outcome is decided, to be recorded. */
record Settled(LeasedJob job, Outcome outcome) {
    Grip grip() {
        return job.grip();
    }
}
