package io.rowlock.internal.lease;

import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.PartitionSql;
import io.rowlock.lease.PartTask;
import io.rowlock.lease.PartitionMember;
import io.rowlock.lease.Partitions;
import java.time.Duration;

/** Partitions whose parts are leases. */
final class RowPartitions implements Partitions {
    private static final int MOST_PARTS = 1_000;
    private static final int MAX_NAME = 150;

    private final Contenders contenders;
    private final PartitionSql sql;
    private final Duration timeToLive;

    RowPartitions(Contenders contenders, Names names, Duration timeToLive) {
        this.contenders = contenders;
        this.sql = new PartitionSql(names);
        this.timeToLive = timeToLive;
    }

    @Override
    public PartitionMember join(String name, int parts, PartTask task) {
        LeaseChecks.name("The name of partitions", name, MAX_NAME);
        LeaseChecks.present("The task of a part", task);
        if (parts < 1 || parts > MOST_PARTS) {
            throw new InvalidUseException("parts must be between 1 and " + MOST_PARTS + ", got " + parts);
        }
        LeaseMember member = new LeaseMember(contenders, sql, timeToLive, new LeaseMember.Division(name, parts), task);
        contenders.add(member);
        member.start();
        return member;
    }
}
