package io.rowlock.internal.lease;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.LeaseLostException;
import io.rowlock.lease.Candidacy;
import io.rowlock.lease.Leader;
import io.rowlock.lease.LeaderTask;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Leads by leases. */
final class LeaseLeader implements Leader {
    private final Contenders contenders;
    private final Duration timeToLive;

    LeaseLeader(Contenders contenders, Duration timeToLive) {
        this.contenders = contenders;
        this.timeToLive = timeToLive;
    }

    @Override
    public Candidacy run(String name, LeaderTask task) {
        LeaseCandidacy candidacy = new LeaseCandidacy(
                contenders, LeaseChecks.name(name), timeToLive, LeaseChecks.present("The task of a leader", task));
        contenders.add(candidacy);
        candidacy.start();
        return candidacy;
    }

    @Override
    public boolean tryRun(String name, LeaderTask task) throws Exception {
        LeaseChecks.name(name);
        LeaseChecks.present("The task of a leader", task);
        Optional<HeldLease> lease = take(name);
        if (lease.isEmpty()) {
            return false;
        }
        TermRun term = new TermRun(lease.get());
        contenders.add(term);
        try {
            term.run(() -> task.lead(term));
        } finally {
            contenders.remove(term);
        }
        if (term.wasLost()) {
            throw new LeaseLostException(
                    "The lease was lost while the task ran; another may have begun it", name, term.token());
        }
        return true;
    }

    private Optional<HeldLease> take(String name) {
        try {
            return contenders.taker.tryTake(name, timeToLive);
        } catch (SQLException e) {
            throw new DatabaseException("The lease of leader " + name + " could not be taken; try again", e);
        }
    }
}
