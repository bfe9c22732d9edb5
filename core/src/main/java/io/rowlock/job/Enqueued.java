package io.rowlock.job;

import java.time.Instant;

/**
 * The answer to an enqueue: which row now stands for the job, and where a worker will look for it. The row is visible
 * to others only once the caller's transaction has committed.
 *
 * @param id the job's id; new ones rise in the order of the calls within one transaction; for a duplicate, that of the
 *     job which holds the dedup key
 * @param kind the kind's name
 * @param queue the queue
 * @param priority the priority
 * @param runAt when the job becomes due, by the database's clock
 * @param keyed whether it has an ordering or a limit key
 * @param duplicate false if the job is new; true if no row was written, as another job holds the dedup key: then all of
 *     this answer is about that job
 */
public record Enqueued(
        long id, String kind, String queue, Priority priority, Instant runAt, boolean keyed, boolean duplicate) {}
