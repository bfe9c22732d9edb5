package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.schedule.Misfire;
import io.rowlock.schedule.Overlap;
import io.rowlock.schedule.Schedule;
import io.rowlock.schedule.ScheduleView;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.Worker;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

@PostgresTest
class SchedulesIT {
    private final Rowlock rowlock;

    SchedulesIT(TestSchema schema) {
        this.rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
    }

    // tag::kind
    @Kind("daily-report")
    public record DailyReport(String department) {}
    // end::kind

    @Test
    void a_schedule_is_declared_by_a_worker_and_changed_by_people() {
        List<Instant> made = new ArrayList<>();
        // tag::declare
        Schedule<DailyReport> report = Schedule.cron("daily-report", "30 2 * * *", ZoneId.of("Europe/Berlin"))
                .job(new DailyReport("sales"))
                .revision(3) // raised with every change
                .overlap(Overlap.QUEUE);

        Worker worker = rowlock.worker(w -> w.schedule(report).handle(DailyReport.class, (payload, job) -> {
            Instant scheduledAt = Instant.parse(job.headers().get("rowlock-scheduled-at"));
            made.add(scheduledAt); // 2:30 in Berlin, however late it runs
        }));
        // end::declare
        worker.start();
        worker.stop(Duration.ZERO);

        // tag::operate
        By ada = new By("ada", "figures of yesterday were wrong");
        rowlock.schedules().pause("daily-report", ada);
        rowlock.schedules().resume("daily-report", ada);
        rowlock.schedules().runNow("daily-report", ada);
        ScheduleView view = rowlock.schedules().find("daily-report").orElseThrow();
        rowlock.schedules().remove("daily-report", ada);
        // end::operate
        assertThat(view.course().nextAt()).isNotNull();

        // tag::rates
        Schedule<DailyReport> often =
                Schedule.fixedRate("often", Duration.ofMinutes(5)).job(new DailyReport("stock"));
        Schedule<DailyReport> after =
                Schedule.fixedDelay("after", Duration.ofMinutes(5)).job(new DailyReport("stock"));
        Schedule<DailyReport> each = Schedule.cron("each", "0 * * * *", ZoneId.of("UTC"))
                .job(new DailyReport("tax"))
                .misfire(Misfire.ALL);
        // end::rates
        List.of(often, after, each).forEach(schedule -> rowlock.schedules().declare(schedule));
        assertThat(rowlock.schedules().all(null, 10)).hasSize(4);
        try (var cranked = rowlock.handCrankedWorker(w -> w.handle(
                DailyReport.class,
                (payload, job) -> made.add(Instant.parse(job.headers().get("rowlock-scheduled-at")))))) {
            cranked.drain();
        }
        assertThat(made).hasSize(1);
    }
}
