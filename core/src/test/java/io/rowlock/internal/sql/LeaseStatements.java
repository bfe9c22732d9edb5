package io.rowlock.internal.sql;

import static io.rowlock.internal.sql.PlannedStatements.pin;

import io.rowlock.internal.sql.PlannedStatements.Pinned;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** The statements of leases whose plans are pinned, and rows for them. */
final class LeaseStatements {
    private static final long MINUTE = Sql.micros(Duration.ofMinutes(1));

    private LeaseStatements() {}

    /** As many leases as nobody should have, each with a past. */
    static void load(TestSchema schema) throws SQLException {
        schema.execute(
                "INSERT INTO rowlock_lease (name, token, holder, expires_at)"
                        + " SELECT 'lease-' || n, n, 'me', clock_timestamp() + n % 2 * interval '1 day' FROM generate_series(1, 5000) n;"
                        + " INSERT INTO rowlock_lease_history (name, token, holder, taken_at, ended_at, ended)"
                        + " SELECT 'lease-' || n % 5000, n, 'me', clock_timestamp() - interval '1 year', clock_timestamp() - interval '1 year',"
                        + " 'expired' FROM generate_series(1, 20000) n;"
                        + " INSERT INTO rowlock_partition_member (partitions, member, parts, expires_at)"
                        + " SELECT 'p' || n % 100, 'm' || n, 8, clock_timestamp() + interval '1 hour' FROM generate_series(1, 5000) n");
    }

    static List<Pinned> all() {
        List<String> key = List.of("rowlock_lease_pk", "rowlock_lease_fence");
        List<String> both = List.of("rowlock_lease_pk", "rowlock_lease_fence", "rowlock_lease_history_pk");
        List<String> past = List.of(
                "rowlock_lease_pk", "rowlock_lease_fence", "rowlock_lease_history_pk", "rowlock_lease_history_past");
        Object names = Sql.texts(List.of("lease-1", "lease-3"));
        Object tokens = Sql.bigints(List.of(1L, 3L));
        Object times = Sql.bigints(List.of(MINUTE, MINUTE));
        List<String> members = List.of("rowlock_partition_member_pk");
        List<String> joined = List.of("rowlock_partition_member_joined", "rowlock_partition_member_pk");
        return List.of(
                pin("member-lives", PartitionSql.LIVE, members, "p1", "new", 8, MINUTE),
                pin("forget-members", PartitionSql.FORGET, joined, "p1"),
                pin("living-members", PartitionSql.LIVING, joined, "p1"),
                pin("partition-members", PartitionSql.MEMBERS, joined, "p1"),
                pin("parts-of-partitions", PartitionSql.PARTS, key, "p1"),
                pin(
                        "page-of-partitions",
                        PartitionSql.PAGE,
                        List.of(
                                "rowlock_partition_member_pk",
                                "rowlock_partition_member_joined",
                                "rowlock_lease_pk",
                                "rowlock_lease_fence"),
                        "p1",
                        20),
                pin("member-leaves", PartitionSql.LEAVE, members, "p1", "m1"),
                pin("make-parts", PartitionSql.MAKE, key, names),
                pin("free-parts", PartitionSql.FREE, key, names),
                pin("make-lease", LeaseSql.MAKE, key, "lease-2"),
                pin("take-lease", LeaseSql.TAKE, both, "lease-2", "you", MINUTE),
                pin("take-unfenced-lease", LeaseSql.TAKE_UNFENCED, both, "lease-2", "you", MINUTE),
                pin("renew-leases", LeaseSql.RENEW, key, names, tokens, "me", times),
                pin("leases-still-held", LeaseSql.STILL_HELD, key, names, tokens, "me"),
                pin("release-lease", LeaseSql.RELEASE, both, "lease-1", 1L, "me", "released"),
                pin("fence", LeaseSql.FENCE, key, "lease-1", 1L),
                pin("revoke-lease", LeaseSql.REVOKE, both, "lease-1", "ada", "why"),
                pin("find-lease", LeaseSql.FIND, key, "lease-1"),
                pin("page-of-leases", LeaseSql.PAGE, key, "lease-1", 100),
                pin("history-of-lease", LeaseSql.HISTORY, both, "lease-1", 100),
                pin("prune-leases", PruneSql.LEASES, past, "public.rowlock_", MINUTE, 1_000, null, 0L));
    }
}
