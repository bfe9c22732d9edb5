package io.rowlock.internal.schedule;

import com.cronutils.model.Cron;
import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.field.CronField;
import com.cronutils.model.field.CronFieldName;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import io.rowlock.error.InvalidUseException;
import io.rowlock.schedule.Timing;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Optional;

/*
 * The parser knows when the hands of a clock stand right. What becomes of that where clocks are put forward or back is
 * decided here, and the parser only ever sees a clock that nobody adjusts:
 *
 *   an expression that names hours (0 2 * * *)      wall-clock times, each once per local date: one that a gap swallows is
 *                                                   moved to the gap's end, of one that comes twice the first counts
 *   an expression of every hour  (0/15 * * * *)     goes on in real time: nothing is moved, the repeated hour counts twice
 *
 * Of every hour is what names all 24 of them, however it is written (*, 0-23, 0/1); every second hour names hours.
 */

/** The instants of a cron expression in a time zone. Immutable. */
final class CronTimes {
    private static final int UNIX_FIELDS = 5;
    private static final CronParser UNIX = parser(CronType.UNIX);
    private static final CronParser WITH_SECONDS = parser(CronType.SPRING53);

    private static final int HOURS = 24;
    private static final LocalDateTime SOME_DAY = LocalDateTime.of(2024, 1, 1, 0, 0);

    private final ExecutionTime times;
    private final ZoneRules rules;
    private final boolean everyHour;

    private CronTimes(Cron cron, ZoneId zone) {
        this.times = ExecutionTime.forCron(cron);
        this.rules = zone.getRules();
        this.everyHour = isEveryHour(cron);
    }

    /**
     * Reads an expression.
     *
     * @param expression five fields (minute, hour, day of month, month, day of week), six with seconds before them, or a name
     *     such as {@code @daily}
     * @throws InvalidUseException if it cannot be read, or never comes
     */
    static CronTimes of(String expression, ZoneId zone) {
        String checked = new Timing.Cron(expression, zone).expression();
        boolean unix = checked.split("\\s+", -1).length == UNIX_FIELDS;
        return new CronTimes((unix ? UNIX : WITH_SECONDS).parse(checked), zone);
    }

    private static CronParser parser(CronType type) {
        return new CronParser(CronDefinitionBuilder.instanceDefinitionFor(type));
    }

    private static boolean isEveryHour(Cron cron) {
        CronField hour = cron.retrieveFieldsAsMap().get(CronFieldName.HOUR);
        if (hour == null) {
            return true;
        }
        ExecutionTime onTheHour = ExecutionTime.forCron(
                WITH_SECONDS.parse("0 0 " + hour.getExpression().asString() + " * * *"));
        ZonedDateTime time = SOME_DAY.minusSeconds(1).atZone(ZoneOffset.UTC);
        for (int named = 0; named < HOURS; named++) {
            time = onTheHour.nextExecution(time).orElse(time);
        }
        return time.toLocalDateTime().isBefore(SOME_DAY.plusDays(1));
    }

    /** The first instant after this one; empty if there is none for years. */
    Optional<Instant> next(Instant after) {
        return everyHour ? nextInRealTime(after) : nextOnWall(after);
    }

    private Optional<Instant> nextOnWall(Instant after) {
        Optional<LocalDateTime> local = nextOnClock(LocalDateTime.ofInstant(after, rules.getOffset(after)));
        while (local.isPresent()) {
            Instant instant = firstOf(local.get());
            if (instant.isAfter(after)) {
                return Optional.of(instant);
            }
            local = nextOnClock(local.get()); // it has come already, before the clock was put back
        }
        return Optional.empty();
    }

    private Instant firstOf(LocalDateTime local) {
        ZoneOffsetTransition change = rules.getTransition(local);
        if (change == null) {
            return local.toInstant(rules.getOffset(local));
        }
        return change.isGap() ? change.getInstant() : local.toInstant(change.getOffsetBefore());
    }

    private Optional<Instant> nextInRealTime(Instant after) {
        Instant from = after;
        while (true) {
            ZoneOffset offset = rules.getOffset(from);
            Optional<Instant> next =
                    nextOnClock(LocalDateTime.ofInstant(from, offset)).map(local -> local.toInstant(offset));
            ZoneOffsetTransition change = rules.nextTransition(from);
            if (next.isEmpty() || change == null || next.get().isBefore(change.getInstant())) {
                return next;
            }
            Instant atChange = change.getInstant();
            LocalDateTime clock = LocalDateTime.ofInstant(atChange, change.getOffsetAfter());
            Optional<LocalDateTime> first = nextOnClock(clock.minusSeconds(1));
            if (first.isPresent() && first.get().equals(clock)) {
                return Optional.of(atChange);
            }
            from = atChange;
        }
    }

    /** As on a clock that nobody adjusts. */
    private Optional<LocalDateTime> nextOnClock(LocalDateTime after) {
        LocalDateTime second = after.truncatedTo(ChronoUnit.SECONDS); // or the fraction would come back in the answer
        return times.nextExecution(second.atZone(ZoneOffset.UTC)).map(ZonedDateTime::toLocalDateTime);
    }
}
