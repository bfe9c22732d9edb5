package io.rowlock.internal.sql;

import io.rowlock.error.InvalidUseException;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The configured schema and table prefix. Statements are written with {@code rowlock_job} and the like; {@link #apply}
 * puts the configured names in their place. Both are checked as plain identifiers, so nothing can be injected.
 *
 * @param schema the schema that holds the tables
 * @param prefix what the tables' names begin with
 */
public record Names(String schema, String prefix) {
    private static final Pattern IDENTIFIER = Pattern.compile("[a-z_][a-z0-9_]*");
    private static final Pattern NAME = Pattern.compile("\\browlock_(\\w+)");
    private static final Set<String> QUALIFIED = Set.of(
            "schema",
            "job",
            "job_failure",
            "alert",
            "key",
            "queue",
            "limit",
            "slot",
            "cancel_request",
            "saga",
            "saga_step",
            "saga_signal",
            "operation",
            "schedule",
            "alert_sink",
            "lease",
            "lease_history",
            "lease_token_seq",
            "partition_member",
            "idempotency_key",
            "job_id_seq",
            "enqueue");

    /** The longest prefix that leaves room for the longest index name in PostgreSQL's 63 bytes. */
    private static final int MAX_PREFIX = 40;

    public Names {
        if (schema == null
                || schema.length() > 63
                || !IDENTIFIER.matcher(schema).matches()) {
            throw new InvalidUseException("schema must be a lower-case SQL identifier of at most 63 letters, digits and"
                    + " underscores, not beginning with a digit, got " + quoted(schema));
        }
        if (prefix == null
                || prefix.length() > MAX_PREFIX
                || !IDENTIFIER.matcher(prefix).matches()) {
            throw new InvalidUseException("tablePrefix must be a lower-case SQL identifier of at most " + MAX_PREFIX
                    + " letters, digits and underscores, not beginning with a digit, got " + quoted(prefix));
        }
    }

    private static String quoted(@Nullable String name) {
        return name == null ? "null" : '\'' + name + '\'';
    }

    /** Replaces names of tables, sequences and functions by qualified ones, others by prefixed ones, in one pass. */
    public String apply(String sql) {
        return NAME.matcher(sql)
                .replaceAll(
                        match -> QUALIFIED.contains(match.group(1)) ? table(match.group(1)) : prefix + match.group(1));
    }

    /** The qualified name of a table, or of what else stands beside the tables. */
    public String table(String name) {
        return "\"" + schema + "\"." + prefix + name;
    }
}
