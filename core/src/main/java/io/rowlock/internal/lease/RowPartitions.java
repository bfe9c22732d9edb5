package io.rowlock.internal.lease;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.engine.EngineConnection.Work;
import io.rowlock.internal.lease.LeaseMember.Times;
import io.rowlock.internal.sql.LeaseSql.LeaseRow;
import io.rowlock.internal.sql.PartitionSql;
import io.rowlock.internal.sql.PartitionSql.MemberRow;
import io.rowlock.lease.MemberView;
import io.rowlock.lease.PartTask;
import io.rowlock.lease.PartView;
import io.rowlock.lease.PartitionMember;
import io.rowlock.lease.Partitions;
import io.rowlock.lease.PartitionsView;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/** Partitions whose parts are leases. */
final class RowPartitions implements Partitions {
    private static final int MOST_PARTS = 1_000;
    private static final int MAX_NAME = 150;
    private static final int LONGEST_PAGE = 100;

    private final Contenders contenders;
    private final PartitionSql sql;
    private final Times times;

    RowPartitions(Contenders contenders, PartitionSql sql, Times times) {
        this.contenders = contenders;
        this.sql = sql;
        this.times = times;
    }

    @Override
    public PartitionMember join(String name, int parts, PartTask task) {
        checkName(name);
        LeaseChecks.present("The task of a part", task);
        if (parts < 1 || parts > MOST_PARTS) {
            throw new InvalidUseException("parts must be between 1 and " + MOST_PARTS + ", got " + parts);
        }
        LeaseMember member = new LeaseMember(contenders, sql, times, new LeaseMember.Division(name, parts), task);
        contenders.add(member);
        member.start();
        return member;
    }

    @Override
    public Partitions drainingWithin(Duration atMost) {
        if (atMost == null || atMost.compareTo(LeaseChecks.SHORTEST) < 0 || atMost.compareTo(LeaseChecks.LONGEST) > 0) {
            throw new InvalidUseException("The drain limit of parts must be between " + LeaseChecks.SHORTEST + " and "
                    + LeaseChecks.LONGEST + ", got " + atMost);
        }
        return new RowPartitions(contenders, sql, new Times(times.timeToLive(), atMost));
    }

    @Override
    public List<PartitionsView> all(String after, int most) {
        LeaseChecks.present("after", after);
        if (most < 1 || most > LONGEST_PAGE) {
            throw new InvalidUseException("most must be between 1 and " + LONGEST_PAGE + ", got " + most);
        }
        return read(open -> sql.page(open, after, most)).stream()
                .map(row -> new PartitionsView(row.name(), row.parts(), row.members(), row.held()))
                .toList();
    }

    @Override
    public List<MemberView> members(String name) {
        checkName(name);
        return read(open -> {
            List<MemberRow> members = sql.members(open, name);
            List<LeaseRow> parts = members.isEmpty() ? List.of() : sql.parts(open, name);
            return members.stream()
                    .map(row -> new MemberView(
                            row.member(), row.parts(), row.joinedAt(), row.expiresAt(), held(row, parts)))
                    .toList();
        });
    }

    private static List<Integer> held(MemberRow member, List<LeaseRow> parts) {
        return parts.stream()
                .filter(part -> part.holder() != null && member.member().startsWith(part.holder() + '-'))
                .map(RowPartitions::number)
                .sorted()
                .toList();
    }

    @Override
    public List<PartView> parts(String name) {
        checkName(name);
        return read(open -> sql.parts(open, name)).stream()
                .map(row -> new PartView(number(row), RowLeases.view(row)))
                .sorted(Comparator.comparingInt(PartView::number))
                .toList();
    }

    private static int number(LeaseRow part) {
        return Integer.parseInt(part.name().substring(part.name().lastIndexOf('/') + 1));
    }

    private static void checkName(String name) {
        LeaseChecks.name("The name of partitions", name, MAX_NAME);
    }

    private <T> T read(Work<T> work) {
        try {
            return contenders.taker.read(work);
        } catch (SQLException e) {
            throw new DatabaseException("Partitions could not be looked up", e);
        }
    }
}
