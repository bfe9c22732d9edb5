package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.CheckupSql.Connections;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The server's version and state, the defaults of its sessions, and whether it has connections for all. */
final class ServerCheck implements Check {
    private static final List<String> WANTED = List.of(
            "server_version_num",
            "server_version",
            "default_transaction_isolation",
            "default_transaction_read_only",
            "in_hot_standby",
            "statement_timeout",
            "idle_session_timeout",
            "idle_in_transaction_session_timeout",
            "transaction_timeout");
    private static final int OLDEST = 140_000;
    private static final long QUICK = 5_000;
    private static final long MINUTE = 60_000;
    private static final int PER_WORKER = 3;

    private final CheckupSql sql;
    private final int workers;

    ServerCheck(CheckupSql sql, int workers) {
        this.sql = sql;
        this.workers = workers;
    }

    @Override
    public String subject() {
        return "the server's settings";
    }

    @Override
    public String right() {
        return "Every role may read them; ask the owner of the server.";
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        Map<String, String> settings = sql.settings(connection, WANTED);
        List<Finding> findings = new ArrayList<>();
        if (number(settings, "server_version_num") < OLDEST) {
            findings.add(Symptom.SERVER_TOO_OLD.seen(
                    "The server is PostgreSQL " + settings.get("server_version"), "Move to PostgreSQL 14 or newer."));
        }
        if ("on".equals(settings.get("in_hot_standby"))) {
            findings.add(Symptom.IN_RECOVERY.seen(
                    "The server is a standby",
                    "Let the data source find the primary: add targetServerType=primary to its URL."));
        } else if ("on".equals(settings.get("default_transaction_read_only"))) {
            findings.add(
                    Symptom.READ_ONLY.seen(
                            "Connections begin with default_transaction_read_only=on",
                            "ALTER ROLE ... RESET default_transaction_read_only; or take it out of the data source's options."));
        }
        String isolation = settings.getOrDefault("default_transaction_isolation", "read committed");
        if (!isolation.equals("read committed")) {
            findings.add(Symptom.DEFAULT_ISOLATION.seen(
                    "Transactions begin " + isolation.toUpperCase(Locale.ROOT),
                    "Nothing, if it is meant so; else: ALTER ROLE ... SET default_transaction_isolation = 'read"
                            + " committed';"));
        }
        timeouts(settings, findings);
        room(sql.connections(connection), findings);
        return findings;
    }

    private static void timeouts(Map<String, String> settings, List<Finding> findings) {
        limit(settings, "statement_timeout", QUICK, Symptom.STATEMENT_TIMEOUT, findings);
        limit(settings, "idle_session_timeout", Long.MAX_VALUE, Symptom.IDLE_SESSION_TIMEOUT, findings);
        limit(settings, "idle_in_transaction_session_timeout", MINUTE, Symptom.IDLE_TRANSACTION_TIMEOUT, findings);
        limit(settings, "transaction_timeout", MINUTE, Symptom.TRANSACTION_TIMEOUT, findings);
    }

    private static void limit(
            Map<String, String> settings, String name, long below, Symptom symptom, List<Finding> findings) {
        long millis = number(settings, name);
        if (millis > 0 && millis < below) {
            findings.add(symptom.seen(
                    "Sessions have " + name + " = " + millis + " ms",
                    below == Long.MAX_VALUE
                            ? "ALTER ROLE ... SET " + name + " = 0; for the role of the workers."
                            : "ALTER ROLE ... SET " + name + " = '" + below / 1_000
                                    + "s'; or more, or 0, for the role of the workers."));
        }
    }

    private void room(Connections connections, List<Finding> findings) {
        boolean nearlyFull = connections.used() * 10 >= connections.most() * 8
                || connections.most() - connections.used() < PER_WORKER;
        if (nearlyFull || connections.most() < (long) PER_WORKER * workers) {
            findings.add(
                    Symptom.CONNECTIONS_FEW.seen(
                            connections.used() + " of the " + connections.most()
                                    + " connections that server, role or database allow are in use," + " and " + workers
                                    + " workers here need " + PER_WORKER * workers,
                            "Raise max_connections, or the limit of the role or database; or make the application's pools smaller."));
        }
    }

    private static long number(Map<String, String> settings, String name) {
        return Long.parseLong(settings.getOrDefault(name, "0"));
    }
}
