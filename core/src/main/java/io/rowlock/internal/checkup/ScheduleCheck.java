package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.WaitingSql;
import io.rowlock.internal.sql.WaitingSql.Missing;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Which schedules do not fire: as open alerts say, so also what another process found. */
final class ScheduleCheck implements Check {
    private static final int MOST = 10;

    private final WaitingSql sql;
    private final Typed typed;

    ScheduleCheck(Names names) {
        this.sql = new WaitingSql(names);
        this.typed = new Typed(names);
    }

    @Override
    public String subject() {
        return "schedules that do not fire";
    }

    @Override
    public String right() {
        return typed.grants();
    }

    @Override
    public List<Finding> look(Connection connection) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        for (Missing each : sql.notFiring(connection, MOST)) {
            String ids = each.alerts().stream().map(String::valueOf).collect(Collectors.joining(" "));
            findings.add(Symptom.SCHEDULE_NOT_FIRING.seen(
                    "Schedule '" + each.schedule() + "', last told at " + each.last() + ": " + each.reason(),
                    typed.line("schedules list", "shows what counts now; mend what the alert says")
                            + '\n'
                            + typed.line(
                                    "alerts acknowledge " + ids + " --why 'it is mended'",
                                    "when that is done; in Java: rowlock.alerts().acknowledge(id, by)")));
        }
        return findings;
    }
}
