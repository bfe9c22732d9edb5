package io.rowlock.internal.lease;

import io.rowlock.lease.Part;

/** A task that works on a part. */
final class PartRun extends TermRun implements Part {
    private final int number;
    private final int of;
    private final long surplusUntil;

    /** @param surplusUntil above the share: until when it is kept all the same, by the monotonic clock; else now */
    PartRun(HeldLease lease, int number, int of, long surplusUntil) {
        super(lease);
        this.number = number;
        this.of = of;
        this.surplusUntil = surplusUntil;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public int of() {
        return of;
    }

    /** Whether it may be asked to end for the sake of the share. */
    boolean countsForShare() {
        return !isAsked() && surplusUntil - System.nanoTime() <= 0;
    }
}
