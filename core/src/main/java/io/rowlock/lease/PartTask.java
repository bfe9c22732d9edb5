package io.rowlock.lease;

/** What is done on each part. */
@FunctionalInterface
public interface PartTask {
    /**
     * Works on a part until {@link Part#goesOn} is false; ends what it has begun, then returns: only then another has the part, or
     * when the drain limit has passed. Runs
     * on a thread of its own for each part, which is interrupted when its lease is lost.
     *
     * @param part looked at before each unit of work; what writes goes through its fence
     * @throws Exception anything; logged, told as an event, and the part is tried again
     */
    void work(Part part) throws Exception;
}
