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
    private static final List<Limit> LIMITS = List.of(
            new Limit("statement_timeout", QUICK, Symptom.STATEMENT_TIMEOUT),
            new Limit("idle_session_timeout", Long.MAX_VALUE, Symptom.IDLE_SESSION_TIMEOUT),
            new Limit("idle_in_transaction_session_timeout", MINUTE, Symptom.IDLE_TRANSACTION_TIMEOUT),
            new Limit("transaction_timeout", MINUTE, Symptom.TRANSACTION_TIMEOUT));

    private final CheckupSql sql;
    private final Levels levels;
    private final int workers;

    /** From how many milliseconds on a limit of sessions does no harm. */
    private record Limit(String setting, long below, Symptom symptom) {}

    ServerCheck(CheckupSql sql, int workers) {
        this.sql = sql;
        this.levels = new Levels(sql);
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
            findings.add(Symptom.READ_ONLY.seen(
                    "Connections begin with default_transaction_read_only=on",
                    levels.set(connection, "default_transaction_read_only", "off", "")));
        }
        String isolation = settings.getOrDefault("default_transaction_isolation", "read committed");
        if (!isolation.equals("read committed")) {
            findings.add(Symptom.DEFAULT_ISOLATION.seen(
                    "Transactions begin " + isolation.toUpperCase(Locale.ROOT),
                    levels.set(
                            connection, "default_transaction_isolation", "'read committed'", "unless it is meant so")));
        }
        timeouts(connection, settings, findings);
        room(sql.connections(connection, 2 * PER_WORKER * Math.max(1, workers)), findings);
        return findings;
    }

    private void timeouts(Connection connection, Map<String, String> settings, List<Finding> findings)
            throws SQLException {
        for (Limit each : LIMITS) {
            long millis = number(settings, each.setting());
            if (millis > 0 && millis < each.below()) {
                findings.add(each.symptom()
                        .seen(
                                "Sessions have " + each.setting() + " = " + millis + " ms",
                                levels.set(
                                        connection,
                                        each.setting(),
                                        each.below() == Long.MAX_VALUE ? "0" : "'" + each.below() / 1_000 + "s'",
                                        each.below() == Long.MAX_VALUE ? "" : "or more, or 0")));
            }
        }
    }

    private void room(Connections connections, List<Finding> findings) {
        boolean nearlyFull = connections.used() * 10 >= connections.most() * 8
                || connections.most() - connections.used() < PER_WORKER;
        if (nearlyFull || connections.most() < (long) PER_WORKER * workers) {
            findings.add(Symptom.CONNECTIONS_FEW.seen(
                    connections.used() + " of the " + connections.most()
                            + " connections that server, role or database allow are in use, and " + workers
                            + " workers here need " + PER_WORKER * workers,
                    connections.cure() + (connections.cure().contains("--") ? "" : " --")
                            + " or make the pools of the application smaller"));
        }
    }

    private static long number(Map<String, String> settings, String name) {
        return Long.parseLong(settings.getOrDefault(name, "0"));
    }
}
