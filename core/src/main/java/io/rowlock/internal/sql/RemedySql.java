package io.rowlock.internal.sql;

/** What a checkup gives people to type, where it is no mere DDL. Rowlock itself runs none of it. */
public final class RemedySql {
    private RemedySql() {}

    /** Sets a setting of the whole server, at once. */
    public static String serverSetting(String setting, String value) {
        return "ALTER SYSTEM SET " + setting + " = '" + value + "'; SELECT pg_reload_conf();";
    }

    /** Says that all versions up to one are installed. */
    public static String versions(Names names, int version) {
        return names.apply("INSERT INTO rowlock_schema (version) SELECT generate_series(1, " + version
                + ") ON CONFLICT DO NOTHING;");
    }

    /** Makes a column an identity again, going on behind what is there. */
    public static String identity(String table, String column) {
        return String.format(
                "ALTER TABLE %1$s ALTER COLUMN %2$s ADD GENERATED ALWAYS AS IDENTITY; SELECT"
                        + " setval(pg_get_serial_sequence('%1$s', '%2$s'), coalesce(max(%2$s), 0) + 1, false) FROM %1$s;",
                table, column);
    }
}
