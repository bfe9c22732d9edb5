package io.rowlock.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clocks that are put forward and back, in the schedule's zone and in that of the session. */
@PostgresTest
@Tag("B32")
final class DaylightSavingIT {
    private static final Duration DAY = Duration.ofHours(24);

    @Kind("report")
    private record Report(String name) {}

    @Kind("other")
    private record Other() {}

    private TestSchema schema;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        TestRowlock.fresh(schema);
    }

    private Rowlock in(String sessionZone) {
        return Rowlock.builder()
                .connections(() -> session(sessionZone))
                .schema(schema.name())
                .build();
    }

    private Connection session(String zone) throws SQLException {
        Connection connection = schema.connect();
        try (var statement = connection.createStatement()) {
            statement.execute("SET TIME ZONE '" + zone + "'");
        }
        return connection;
    }

    private void nextAt(Instant instant) throws Exception {
        assertThat(schema.update("UPDATE rowlock_schedule SET next_at = ?::timestamptz", instant.toString()))
                .isEqualTo(1);
    }

    private List<Instant> scheduledAt() throws Exception {
        return schema
                .list(String.class, "SELECT headers->>'rowlock-scheduled-at' FROM rowlock_job ORDER BY id")
                .stream()
                .map(Instant::parse)
                .toList();
    }

    @ParameterizedTest
    @CsvSource({
        "Europe/Berlin, 2025-03-29T01:30:00Z",
        "Europe/Berlin, 2025-10-25T00:30:00Z",
        "America/New_York, 2025-03-08T07:30:00Z",
        "America/New_York, 2025-11-01T05:30:00Z"
    })
    void a_fixed_rate_of_a_day_is_24_hours(String sessionZone, Instant before) throws Exception {
        Rowlock rowlock = in(sessionZone);
        rowlock.schedules()
                .declare(Schedule.fixedRate("day", DAY).job(new Report("r")).misfire(Misfire.ALL));
        nextAt(before);
        try (HandCrankedWorker worker = rowlock.handCrankedWorker(w -> w.handle(Other.class, (other, job) -> {}))) {
            worker.drain();
        }
        assertThat(scheduledAt().subList(0, 3))
                .containsExactly(before, before.plus(DAY), before.plus(DAY.multipliedBy(2)));
    }

    @ParameterizedTest
    @CsvSource({
        "Europe/Berlin, 2025-03-29T12:00:00Z",
        "Europe/Berlin, 2025-10-25T12:00:00Z",
        "America/New_York, 2025-03-08T12:00:00Z",
        "America/New_York, 2025-11-01T12:00:00Z"
    })
    void a_fixed_delay_of_a_day_is_24_hours_after_the_end(String sessionZone, Instant end) throws Exception {
        Rowlock rowlock = in(sessionZone);
        rowlock.schedules().declare(Schedule.fixedDelay("day", DAY).job(new Report("r")));
        nextAt(end.minusSeconds(60));
        try (HandCrankedWorker worker = rowlock.handCrankedWorker(w -> w.handle(Other.class, (other, job) -> {}))) {
            worker.drain();
            schema.update("UPDATE rowlock_job SET state = 'completed', finished_at = ?::timestamptz", end.toString());
            worker.drain();
        }
        assertThat(scheduledAt()).containsExactly(end.minusSeconds(60), end.plus(DAY));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "30 2 * * *   | 2025-03-29T01:30:00Z | 2025-03-30T01:00:00Z | 2025-03-31T00:30:00Z",
                "30 2 * * *   | 2025-10-25T00:30:00Z | 2025-10-26T00:30:00Z | 2025-10-27T01:30:00Z",
                "30 */2 * * * | 2025-03-29T23:30:00Z | 2025-03-30T01:00:00Z | 2025-03-30T02:30:00Z",
                "*/15 * * * * | 2025-10-26T00:45:00Z | 2025-10-26T01:00:00Z | 2025-10-26T01:15:00Z"
            })
    void a_session_whose_own_clock_is_put_back_or_forward_changes_nothing(
            String cron, Instant one, Instant two, Instant three) throws Exception {
        for (String sessionZone : List.of("Europe/Berlin", "America/New_York", "America/Santiago")) {
            schema.execute("TRUNCATE rowlock_job; TRUNCATE rowlock_schedule");
            Rowlock rowlock = in(sessionZone);
            rowlock.schedules()
                    .declare(Schedule.cron("wall", cron, ZoneId.of("Europe/Berlin"))
                            .job(new Report("r"))
                            .misfire(Misfire.ALL));
            nextAt(one);
            try (HandCrankedWorker worker = rowlock.handCrankedWorker(w -> w.handle(Other.class, (other, job) -> {}))) {
                worker.runNext();
            }
            assertThat(scheduledAt().subList(0, 3)).as("%s", sessionZone).containsExactly(one, two, three);
        }
    }
}
