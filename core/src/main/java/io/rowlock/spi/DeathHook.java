package io.rowlock.spi;

import java.sql.Connection;

/**
 * Called for each job of one kind that becomes a dead letter, in the transaction of the death and before its alert is
 * written. What it writes commits with the death. Called by engine threads; must be quick and take locks on no job row.
 */
@FunctionalInterface
public interface DeathHook {
    /**
     * A job is dying.
     *
     * @param connection the transaction of the death; not to be committed, rolled back or closed
     * @param job the job
     * @throws Exception if the death must not be recorded now: it is rolled back, and the job comes back for another
     *     attempt after an hour
     */
    void dying(Connection connection, DyingJob job) throws Exception;

    /**
     * A job that is becoming a dead letter.
     *
     * @param id its id
     * @param kind its kind's name
     * @param attempts the attempts it used
     * @param reason why it dies
     */
    record DyingJob(long id, String kind, int attempts, String reason) {}
}
