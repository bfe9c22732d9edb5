package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.sql.CheckupSql;
import io.rowlock.internal.sql.RemedySql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Whether what is committed stays committed. The promise of tokens (given once, never lower than one given before) stands on
 * it: a token whose commit is lost is given again, to another owner.
 */
final class DurabilityCheck implements Check {
    private static final List<String> WANTED =
            List.of("fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names", "in_hot_standby");

    private final CheckupSql sql;

    DurabilityCheck(CheckupSql sql) {
        this.sql = sql;
    }

    @Override
    public String subject() {
        return "what survives a crash or a failover";
    }

    @Override
    public String right() {
        return "As superuser: GRANT pg_monitor, to the role of the workers.";
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        Map<String, String> settings = sql.settings(connection, WANTED);
        List<Finding> findings = new ArrayList<>();
        if ("off".equals(settings.get("fsync"))) {
            findings.add(
                    Symptom.FSYNC_OFF.seen("The server runs with fsync=off", RemedySql.serverSetting("fsync", "on")));
        }
        if ("off".equals(settings.get("full_page_writes"))) {
            findings.add(Symptom.FULL_PAGE_WRITES_OFF.seen(
                    "The server runs with full_page_writes=off", RemedySql.serverSetting("full_page_writes", "on")));
        }
        String commit = settings.getOrDefault("synchronous_commit", "on");
        boolean named = !settings.getOrDefault("synchronous_standby_names", "").isBlank();
        if (commit.equals("off") || (named && (commit.equals("local") || commit.equals("remote_write")))) {
            findings.add(Symptom.ASYNCHRONOUS_COMMIT.seen(
                    "Transactions commit with synchronous_commit=" + commit,
                    new Levels(sql)
                            .set(connection, "synchronous_commit", "on", "so for every role that enqueues or works")));
        }
        if (!"on".equals(settings.get("in_hot_standby"))) {
            standbys(sql.standbys(connection), named, commit, findings);
        }
        return findings;
    }

    private static void standbys(long standbys, boolean named, String commit, List<Finding> findings) {
        if (standbys > 0 && !named) {
            findings.add(Symptom.ASYNCHRONOUS_STANDBY.seen(
                    standbys + " standbys follow, and synchronous_standby_names is empty",
                    RemedySql.serverSetting("synchronous_standby_names", "ANY 1 (*)")
                            + " -- or never fail over to a standby that is behind"));
        }
        if (standbys == 0 && named && !commit.equals("off") && !commit.equals("local")) {
            findings.add(Symptom.SYNCHRONOUS_STANDBY_MISSING.seen(
                    "synchronous_standby_names is set, and no standby is connected",
                    RemedySql.serverSetting("synchronous_standby_names", "")
                            + " -- gives up what the standby is for: better start it"));
        }
    }
}
