package io.rowlock.lease;

/** What only one process does at a time. */
@FunctionalInterface
public interface LeaderTask {
    /**
     * Leads until the term is over, or the work is done. Its thread is interrupted when the lease is lost.
     *
     * @param term looked at before each unit of work; what writes goes through its fence
     * @throws Exception anything; logged, told as an event, and tried again by whoever leads next
     */
    void lead(Term term) throws Exception;
}
