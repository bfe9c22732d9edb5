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

    /** In one writing: a blank between two fields, and none around them. */
    static String tidy(String expression) {
        return expression.strip().replaceAll("\\s+", " ");
    }

    static void check(String expression) {
        String[] parts = expression.split("\\s+", -1);
        int fields = parts.length;
        boolean name = expression.startsWith("@");
        if (!name && fields != UNIX_FIELDS && fields != WITH_SECONDS) {
            throw new InvalidUseException("The cron expression \"" + expression + "\" has " + fields
                    + (fields == 1 ? " field; " : " fields; ") + WANTED);
        }
        if (fields == WITH_SECONDS && names(parts[3]) && names(parts[5])) {
            throw new InvalidUseException(
                    "The cron expression \"" + expression + "\" names days of the month and days of"
                            + " the week. Of five fields either would be enough, as in a crontab; six do not say which is meant:"
                            + " declare two schedules, or say one of them, with * for the other (2#1 is the first Tuesday of a"
                            + " month)");
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

    /** Whether a field leaves days out. */
    private static boolean names(String days) {
        return !days.equals("*") && !days.equals("?");
    }
}
