package io.rowlock.lease;

import io.rowlock.Rowlock;
import io.rowlock.error.LeaseLostException;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.TestPostgres;
import io.rowlock.testkit.postgres.TestSchema;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;

/** Holds the lease "billing" in a JVM of its own, and writes under its fence when told to: {@code write N}. */
final class LeaseHolder {
    private LeaseHolder() {}

    static ChildJvm launch(TestSchema schema, Duration timeToLive) {
        return ChildJvm.start(
                LeaseHolder.class,
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
        Lease lease = rowlock.leases()
                .tryTake("billing", Duration.parse(arguments[1]))
                .orElseThrow()
                .onLost(() -> System.out.println("lost"));
        System.out.println("taken " + lease.token());
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            String[] words = order.split(" ", 2);
            boolean unasked = words[0].equals("write-unasked");
            Fence fence = unasked ? rowlock.leases().fence(lease.name(), lease.token()) : lease;
            System.out.println((write(schema, fence, words[1]) ? "written " : "refused ") + words[1]);
        }
        Runtime.getRuntime().halt(1); // the test is gone
    }

    private static boolean write(TestSchema schema, Fence fence, String what) throws Exception {
        try (Connection connection = schema.begin();
                var statement = connection.createStatement()) {
            fence.fence(connection);
            statement.execute("INSERT INTO written VALUES (" + fence.token() + ", " + what + ")");
            connection.commit();
            return true;
        } catch (LeaseLostException e) {
            return false;
        }
    }
}
