package io.rowlock.limit;

import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.util.List;

/** Notes, by a trigger, how much of each window of a rate was used. */
final class Windows implements AutoCloseable {
    private final TestSchema schema;

    Windows(TestSchema schema) throws SQLException {
        this.schema = schema;
        schema.execute(
                "CREATE TABLE IF NOT EXISTS window_log (limit_key text, at timestamptz, used int);"
                        + " TRUNCATE window_log;"
                        + " CREATE OR REPLACE FUNCTION note_window() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                        + " INSERT INTO window_log VALUES (NEW.limit_key, NEW.window_at, NEW.window_used); RETURN NULL; END $$;"
                        + " CREATE TRIGGER note_window AFTER UPDATE ON rowlock_limit FOR EACH ROW EXECUTE FUNCTION note_window()");
    }

    /** The most that was used of each window of a limit. */
    List<Integer> used(String limitKey) throws SQLException {
        return schema.list(
                Integer.class,
                "SELECT max(used) FROM window_log WHERE limit_key = ? AND used > 0 GROUP BY at ORDER BY at",
                limitKey);
    }

    @Override
    public void close() throws SQLException {
        schema.execute("DROP TRIGGER note_window ON rowlock_limit");
    }
}
