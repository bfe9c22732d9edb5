/**
 * The engine of one worker: the claimer takes jobs, runners do them, the completer records what became of them, the
 * heartbeat keeps leases alive, the sweeper finds what was left behind, the pruner deletes what is past its retention.
 */
@NullMarked
package io.rowlock.internal.engine;

import org.jspecify.annotations.NullMarked;
