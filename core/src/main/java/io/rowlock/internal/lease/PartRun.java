package io.rowlock.internal.lease;

import io.rowlock.lease.Part;
import java.time.Duration;

/**
 * A task that works on a part. Told to end it has a limit, which runs from then on: is it at work still, its lease is lost (case B23), and
 * what it writes late is refused.
 */
final class PartRun extends TermRun implements Part {
    private final int number;
    private final int of;
    private final Stay stay;

    /**
     * How long it may stay.
     *
     * @param surplusUntil above the share: until when it is kept all the same, by the monotonic clock; else now
     * @param drainLimit for how long after it was told to end
     */
    record Stay(long surplusUntil, Duration drainLimit) {}

    PartRun(HeldLease lease, int number, int of, Stay stay) {
        super(lease);
        this.number = number;
        this.of = of;
        this.stay = stay;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public int of() {
        return of;
    }

    @Override
    public void ask() {
        super.ask();
        lease.endWithin(stay.drainLimit(), "its task had not ended " + stay.drainLimit() + " after it was told to");
    }

    /** Whether it may be asked to end for the sake of the share. */
    boolean countsForShare() {
        return !isAsked() && stay.surplusUntil() - System.nanoTime() <= 0;
    }
}
