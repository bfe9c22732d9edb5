package io.rowlock.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Who shares parts, and how the parts' leases are. READ COMMITTED, in short transactions. */
public final class PartitionSql {
    /* Locks: the member's own row. Index: the primary key. A HOT update. Rows: one. */
    static final String LIVE = """
            /* rowlock:partition-member-lives */
            INSERT INTO rowlock_partition_member (partitions, member, parts, expires_at)
            VALUES ($1, $2, $3, clock_timestamp() + $4::bigint * interval '1 microsecond')
            ON CONFLICT (partitions, member) DO UPDATE SET expires_at = excluded.expires_at
            """;

    /* Locks: rows of dead members, skipping what is locked. Index: a range of the primary key. Rows: at most 100. */
    static final String FORGET = """
            /* rowlock:forget-partition-members */
            WITH dead AS MATERIALIZED (
              SELECT member
              FROM rowlock_partition_member
              WHERE partitions = $1 AND expires_at < clock_timestamp()
              LIMIT 100
              FOR UPDATE SKIP LOCKED)
            DELETE FROM rowlock_partition_member
            WHERE partitions = $1 AND member = ANY(ARRAY(SELECT member FROM dead)) AND expires_at < clock_timestamp()
            """;

    /* Who joined first comes first. Locks: none. Index: a range of the primary key. Rows: the members. */
    static final String MEMBERS = """
            /* rowlock:partition-members */
            SELECT member, parts
            FROM rowlock_partition_member
            WHERE partitions = $1 AND expires_at > clock_timestamp()
            ORDER BY joined_at, member
            """;

    /* Locks: its row. Index: the primary key. Rows: one. */
    static final String LEAVE = """
            /* rowlock:partition-member-leaves */
            DELETE FROM rowlock_partition_member
            WHERE partitions = $1 AND member = $2
            """;

    /* Free rows for parts that have none. Rows: at most 1,000, in the order of their names. */
    static final String MAKE = """
            /* rowlock:make-parts */
            INSERT INTO rowlock_lease (name, token, expires_at)
            SELECT name, 0, clock_timestamp()
            FROM unnest($1::text[]) AS part(name)
            ORDER BY name
            ON CONFLICT (name) DO NOTHING
            """;

    /* The free ones of the parts, and for how long they are. Locks: none. Index: the primary key. Rows: at most 1,000. */
    static final String FREE = """
            /* rowlock:free-parts */
            SELECT array_position($1::text[], name) - 1 AS part,
                   (extract(epoch FROM least(clock_timestamp() - expires_at, interval '1 day')) * 1000000)::bigint AS free_micros
            FROM rowlock_lease
            WHERE name = ANY($1::text[]) AND (holder IS NULL OR expires_at <= clock_timestamp())
            """;

    private final Sql live;
    private final Sql forget;
    private final Sql members;
    private final Sql leave;
    private final Sql make;
    private final Sql free;

    public PartitionSql(Names names) {
        this.live = new Sql(names, LIVE);
        this.forget = new Sql(names, FORGET);
        this.members = new Sql(names, MEMBERS);
        this.leave = new Sql(names, LEAVE);
        this.make = new Sql(names, MAKE);
        this.free = new Sql(names, FREE);
    }

    /** A member that lives, and how many parts it was told of. */
    public record Member(String member, int parts) {}

    /** A part that nobody holds, and for how long nobody has. */
    public record FreePart(int number, Duration since) {}

    public void live(Connection connection, String partitions, Member member, Duration timeToLive) throws SQLException {
        live.update(connection, partitions, member.member(), member.parts(), Sql.micros(timeToLive));
    }

    public void forget(Connection connection, String partitions) throws SQLException {
        forget.update(connection, partitions);
    }

    public List<Member> members(Connection connection, String partitions) throws SQLException {
        return members.query(connection, row -> new Member(row.getString("member"), row.getInt("parts")), partitions);
    }

    public void leave(Connection connection, String partitions, String member) throws SQLException {
        leave.update(connection, partitions, member);
    }

    /** Gives how many were made. */
    public int make(Connection connection, List<String> names) throws SQLException {
        return make.update(connection, Sql.texts(names));
    }

    public List<FreePart> free(Connection connection, List<String> names) throws SQLException {
        return free.query(
                connection,
                row -> new FreePart(row.getInt("part"), Sql.duration(row.getLong("free_micros"))),
                Sql.texts(names));
    }
}
