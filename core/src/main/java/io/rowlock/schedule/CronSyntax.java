package io.rowlock.schedule;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import io.rowlock.error.InvalidUseException;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;

/** Whether a cron expression can be read, and ever comes; if not, it says what is wrong with it. */
final class CronSyntax {
    private static final int UNIX_FIELDS = 5;
    private static final int WITH_SECONDS = 6;
    private static final String WANTED =
            "five fields are wanted (minute, hour, day of month, month, day of week), or six with seconds first";
    private static final ZonedDateTime SOME_TIME = ZonedDateTime.of(2024, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);

    private CronSyntax() {}

    static void check(String expression) {
        int fields = expression.split("\\s+", -1).length;
        boolean name = expression.startsWith("@");
        if (!name && fields != UNIX_FIELDS && fields != WITH_SECONDS) {
            throw new InvalidUseException("The cron expression \"" + expression + "\" has " + fields
                    + (fields == 1 ? " field; " : " fields; ") + WANTED);
        }
        CronType type = fields == UNIX_FIELDS ? CronType.UNIX : CronType.SPRING53;
        boolean comes;
        try {
            comes = ExecutionTime.forCron(
                            new CronParser(CronDefinitionBuilder.instanceDefinitionFor(type)).parse(expression))
                    .nextExecution(SOME_TIME)
                    .isPresent();
        } catch (IllegalArgumentException e) {
            throw new InvalidUseException(
                    "The cron expression \"" + expression + "\" cannot be read: " + e.getMessage()
                            + (name ? "; of names there are such as @daily and @hourly" : ""),
                    e);
        }
        if (!comes) {
            throw new InvalidUseException("The cron expression \"" + expression + "\" never comes");
        }
    }
}
