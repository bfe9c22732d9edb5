package io.rowlock.testkit.postgres;

/**
 * Says where the shared server is, after using a schema there, that of the argument or a new one; or why there is
 * none.
 */
final class SharedMain {

    private SharedMain() {}

    public static void main(String[] arguments) throws Exception {
        try {
            TestPostgres server = TestPostgres.shared();
            if (arguments.length == 1) {
                TestSchema.existing(server, arguments[0]).execute("INSERT INTO note VALUES (1)");
            }
            try (TestSchema schema = TestSchema.create(server, "from a child")) {
                schema.execute("CREATE TABLE note (id bigint)");
                System.out.println(
                        "shared " + server.url() + " " + schema.count("SELECT count(*) FROM note") + " rows");
            }
        } catch (IllegalStateException e) {
            System.out.println("refused " + e.getMessage());
        }
    }
}
