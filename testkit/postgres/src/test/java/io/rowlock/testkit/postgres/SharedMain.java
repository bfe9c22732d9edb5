package io.rowlock.testkit.postgres;

/** Says where the shared server is, after using a schema there; or why there is none. */
final class SharedMain {

    private SharedMain() {}

    public static void main(String[] arguments) throws Exception {
        try {
            TestPostgres server = TestPostgres.shared();
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
