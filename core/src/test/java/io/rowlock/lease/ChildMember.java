package io.rowlock.lease;

import io.rowlock.Rowlock;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Joins the six parts of "feed" in a JVM of its own and consumes their rows. Says {@code has N}. */
final class ChildMember {
    private static final int BATCH = 5;

    private ChildMember() {}

    static ChildJvm launch(TestSchema schema, Duration timeToLive) {
        return ChildJvm.start(
                ChildMember.class,
                jvm -> jvm.sharing(schema.server())
                        .arguments(schema.name(), timeToLive.toString())
                        .jvmArguments("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"));
    }

    public static void main(String[] arguments) throws Exception {
        TestSchema schema = TestSchema.existing(TestPostgres.shared(), arguments[0]);
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        PartitionMember member = rowlock.partitions(Duration.parse(arguments[1]))
                .join("feed", 6, part -> {
                    try (Connection connection = schema.begin()) {
                        while (part.goesOn()) {
                            consume(connection, part, "child");
                            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
                        }
                    }
                });
        while (member.parts().size() < 6) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
        System.out.println("has 6");
        System.in.read(); // until the test is gone
        Runtime.getRuntime().halt(1);
    }

    /** A batch of the part's rows in their order, in one transaction under its fence; gives how many. */
    static int consume(Connection connection, Part part, String who) throws SQLException {
        part.fence(connection);
        List<Long> ids = new ArrayList<>();
        try (var select = connection.prepareStatement(
                "SELECT id FROM feed WHERE part = ? AND NOT done ORDER BY id LIMIT " + BATCH)) {
            select.setInt(1, part.number());
            try (var rows = select.executeQuery()) {
                while (rows.next()) {
                    ids.add(rows.getLong(1));
                }
            }
        }
        for (long id : ids) {
            try (var insert = connection.prepareStatement(
                            "INSERT INTO done (id, key, token, who) SELECT id, key, ?, ? FROM feed" + " WHERE id = ?");
                    var update = connection.prepareStatement("UPDATE feed SET done = true WHERE id = ?")) {
                insert.setLong(1, part.token());
                insert.setString(2, who);
                insert.setLong(3, id);
                insert.executeUpdate();
                update.setLong(1, id);
                update.executeUpdate();
            }
        }
        connection.commit();
        return ids.size();
    }
}
