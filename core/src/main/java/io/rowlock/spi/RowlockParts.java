package io.rowlock.spi;

import io.rowlock.event.RowlockListener;

/**
 * What modules beside core build on: a Rowlock's database and tables, how it writes payloads, and whom it tells. Applications
 * need none of it. Made by {@code Rowlock.parts()} and valid as long as that Rowlock; safe for use by many threads.
 */
public interface RowlockParts {
    /**
     * Where connections to Rowlock's database come from; each is to be closed by who took it. A Rowlock without a data source
     * gives one that throws {@link io.rowlock.error.InvalidUseException}.
     *
     * @return the source given to the builder
     */
    ConnectionSource connections();

    /**
     * The schema of Rowlock's tables.
     *
     * @return a plain lower-case identifier of at most 63 characters, to be quoted or not
     */
    String schema();

    /**
     * What the names of Rowlock's tables begin with.
     *
     * @return a plain lower-case identifier of at most 40 characters; {@code rowlock_} unless set
     */
    String prefix();

    /**
     * How payloads become JSON, and are read.
     *
     * @return the codec given to the builder, or the built-in one
     */
    PayloadCodec codec();

    /**
     * How large a payload may be, as JSON.
     *
     * @return bytes in UTF-8, 1 to 64 MiB
     */
    int maxPayloadBytes();

    /**
     * Tells all listeners of this Rowlock, on the calling thread.
     *
     * @return a listener that never throws; what one of them throws is logged
     */
    RowlockListener listener();

    /**
     * Who may do what: to be asked before what people do, and before any statement of it.
     *
     * @return the policy given to the builder, or one that allows everything
     */
    AccessPolicy access();

    /**
     * Makes workers look for due jobs at once: after the commit of what made jobs due that no enqueue tells of. Those of this
     * Rowlock, and with {@code RowlockBuilder.notifications} those of other processes; without, these find the jobs at their
     * next poll. Sends no SQL on the calling thread, never blocks, never throws.
     */
    void wake();
}
