package io.rowlock.internal.sql;

import io.rowlock.internal.sql.LeaseSql.LeaseRow;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
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

    /*
     * Those who joined first stand first, and so do the dead: of 2,000 that joined first, whatever there are more. Locks: their rows,
     * skipping what is locked. Indexes: rowlock_partition_member_joined, in its order, then the primary key. Rows: at most 100.
     */
    static final String FORGET = """
            /* rowlock:forget-partition-members */
            WITH dead AS MATERIALIZED (
              SELECT member
              FROM (SELECT member, expires_at FROM rowlock_partition_member
                    WHERE partitions = $1 ORDER BY joined_at, member LIMIT 2000) AS first
              WHERE expires_at < clock_timestamp()
              LIMIT 100),
            locked AS MATERIALIZED (
              SELECT member
              FROM rowlock_partition_member
              WHERE partitions = $1 AND member = ANY(ARRAY(SELECT member FROM dead)) AND expires_at < clock_timestamp()
              FOR UPDATE SKIP LOCKED)
            DELETE FROM rowlock_partition_member
            WHERE partitions = $1 AND member = ANY(ARRAY(SELECT member FROM locked))
            """;

    /*
     * Who joined first comes first. A share is one part where there are as many members as parts, so none counts behind the first
     * 2,000. Locks: none. Index: rowlock_partition_member_joined, in its order. Rows: at most 2,000.
     */
    static final String LIVING = """
            /* rowlock:living-partition-members */
            SELECT member, parts
            FROM (SELECT member, parts, joined_at, expires_at FROM rowlock_partition_member
                  WHERE partitions = $1 ORDER BY joined_at, member LIMIT 2000) AS first
            WHERE expires_at > clock_timestamp()
            ORDER BY joined_at, member
            """;

    /* The dead that nobody has forgotten too. Locks: none. Index: rowlock_partition_member_joined, in its order. Rows: at most 1,000. */
    static final String MEMBERS = """
            /* rowlock:partition-members */
            SELECT member, parts, joined_at, expires_at
            FROM rowlock_partition_member
            WHERE partitions = $1
            ORDER BY joined_at, member
            LIMIT 1000
            """;

    /* Locks: none. Index: the primary key of leases. Rows: at most 1,000. */
    static final String PARTS = """
            /* rowlock:parts-of-partitions */
            SELECT name, token, CASE WHEN expires_at > clock_timestamp() THEN holder END AS holder, taken_at, expires_at
            FROM rowlock_lease
            WHERE name = ANY(ARRAY(SELECT 'partition:' || $1::text || '/' || n FROM generate_series(0, 999) AS n))
            """;

    /*
     * From one name to the next. Locks: none. Index: the primary key once for each name; for each of those returned
     * rowlock_partition_member_joined, 2,000 rows at most, and the primary key of leases, once for each part. Rows: at most $2.
     */
    static final String PAGE = """
            /* rowlock:page-of-partitions */
            WITH RECURSIVE names AS (
              (SELECT partitions FROM rowlock_partition_member WHERE partitions > $1 ORDER BY partitions LIMIT 1)
              UNION ALL
              SELECT (SELECT m.partitions FROM rowlock_partition_member m
                      WHERE m.partitions > names.partitions ORDER BY m.partitions LIMIT 1)
              FROM names
              WHERE names.partitions IS NOT NULL),
            page AS MATERIALIZED (SELECT partitions FROM names WHERE partitions IS NOT NULL LIMIT $2)
            SELECT page.partitions, told.parts, told.living, held.n AS held
            FROM page
            CROSS JOIN LATERAL (
              SELECT count(*) FILTER (WHERE expires_at > clock_timestamp()) AS living,
                     (array_agg(parts ORDER BY expires_at <= clock_timestamp(), joined_at, member))[1] AS parts
              FROM (SELECT member, parts, joined_at, expires_at FROM rowlock_partition_member m
                    WHERE m.partitions = page.partitions ORDER BY m.joined_at, m.member LIMIT 2000) AS first) AS told
            CROSS JOIN LATERAL (
              SELECT count(*) AS n
              FROM rowlock_lease
              WHERE holder IS NOT NULL AND expires_at > clock_timestamp()
                AND name = ANY(ARRAY(SELECT 'partition:' || page.partitions || '/' || n
                                     FROM generate_series(0, told.parts - 1) AS n))) AS held
            ORDER BY page.partitions
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
    private final Sql living;
    private final Sql members;
    private final Sql parts;
    private final Sql page;
    private final Sql leave;
    private final Sql make;
    private final Sql free;

    public PartitionSql(Names names) {
        this.live = new Sql(names, LIVE);
        this.forget = new Sql(names, FORGET);
        this.living = new Sql(names, LIVING);
        this.members = new Sql(names, MEMBERS);
        this.parts = new Sql(names, PARTS);
        this.page = new Sql(names, PAGE);
        this.leave = new Sql(names, LEAVE);
        this.make = new Sql(names, MAKE);
        this.free = new Sql(names, FREE);
    }

    /** A member that lives, and how many parts it was told of. */
    public record Member(String member, int parts) {}

    /** A member's row. */
    public record MemberRow(String member, int parts, Instant joinedAt, Instant expiresAt) {}

    /** Partitions of that name, and how many of their parts somebody holds. */
    public record PartitionsRow(String name, int parts, int members, int held) {}

    /** A part that nobody holds, and for how long nobody has. */
    public record FreePart(int number, Duration since) {}

    public void live(Connection connection, String partitions, Member member, Duration timeToLive) throws SQLException {
        live.update(connection, partitions, member.member(), member.parts(), Sql.micros(timeToLive));
    }

    public void forget(Connection connection, String partitions) throws SQLException {
        forget.update(connection, partitions);
    }

    /** Who joined first first. */
    public List<Member> living(Connection connection, String partitions) throws SQLException {
        return living.query(connection, row -> new Member(row.getString("member"), row.getInt("parts")), partitions);
    }

    /** Who joined first first, the dead too. */
    public List<MemberRow> members(Connection connection, String partitions) throws SQLException {
        return members.query(
                connection,
                row -> new MemberRow(
                        row.getString("member"),
                        row.getInt("parts"),
                        Sql.requiredInstant(row, "joined_at"),
                        Sql.requiredInstant(row, "expires_at")),
                partitions);
    }

    /** In no order. */
    public List<LeaseRow> parts(Connection connection, String partitions) throws SQLException {
        return parts.query(connection, LeaseSql::row, partitions);
    }

    public List<PartitionsRow> page(Connection connection, String after, int most) throws SQLException {
        return page.query(
                connection,
                row -> new PartitionsRow(
                        row.getString("partitions"), row.getInt("parts"), row.getInt("living"), row.getInt("held")),
                after,
                most);
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
