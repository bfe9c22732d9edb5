package io.rowlock.testkit.postgres;

import java.sql.Connection;
import java.util.concurrent.CountDownLatch;

/** Starts an embedded server and waits to be killed. */
final class ServerMain {

    private ServerMain() {}

    public static void main(String[] arguments) throws Exception {
        OwnPostgres server = TestPostgres.embedded(o -> {});
        try (Connection connection = server.connect()) {
            System.out.println("server "
                    + Statements.list(connection, String.class, "SHOW data_directory")
                            .get(0));
        }
        new CountDownLatch(1).await();
    }
}
