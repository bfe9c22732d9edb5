package io.rowlock.schedule;

/**
 * What becomes of an instant at which the job of the one before has not finished, or one that a person has run since. A dead or
 * cancelled job has.
 */
public enum Overlap {
    /** Its job is written as any other, and may run beside the one before. The default: no instant is without a job. */
    ALLOW("allow"),
    /** It makes no job, and is not made up for. Not together with {@link Misfire#ALL}. */
    SKIP("skip"),
    /**
     * Its job is written and waits for those before it, by the ordering key {@code schedule/} and the name. If one of them
     * dies, the queue's {@link io.rowlock.job.DeadHead} says whether the others wait.
     */
    QUEUE("queue");

    private final String text;

    Overlap(String text) {
        this.text = text;
    }

    /**
     * How it is written in the table.
     *
     * @return the column's text
     */
    public String text() {
        return text;
    }
}
