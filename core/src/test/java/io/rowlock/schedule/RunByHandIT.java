package io.rowlock.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.fixture.TestRowlock;
import io.rowlock.job.By;
import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A job that a person made of a schedule counts beside that of the instant before: neither is forgotten for the other. */
@PostgresTest
@Tag("B16")
final class RunByHandIT {
    private static final By ADA = new By("ada", "a test");
    private static final Instant FIRST_END = Instant.parse("2125-01-01T00:00:00Z");
    private static final Instant LAST_END = Instant.parse("2125-01-01T05:00:00Z");

    @Kind("report")
    private record Report(String name) {}

    @Kind("other")
    private record Other() {}

    private TestSchema schema;
    private Schedules schedules;
    private HandCrankedWorker worker;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        TestRowlock rowlock = TestRowlock.fresh(schema);
        schedules = rowlock.rowlock().schedules();
        worker = rowlock.rowlock().handCrankedWorker(w -> w.handle(Other.class, (other, job) -> {}));
    }

    @AfterEach
    void close() {
        worker.close();
    }

    private void skipping() {
        schedules.declare(Schedule.fixedRate("s", Duration.ofHours(1))
                .job(new Report("r"))
                .overlap(Overlap.SKIP));
    }

    private void delayed() {
        schedules.declare(Schedule.fixedDelay("s", Duration.ofHours(1)).job(new Report("r")));
    }

    /** Its instant comes; gives how many jobs there are then. */
    private long fire() throws Exception {
        schema.update("UPDATE rowlock_schedule SET next_at = clock_timestamp()");
        return look();
    }

    private long look() throws Exception {
        worker.drain();
        return schema.count("SELECT count(*) FROM rowlock_job");
    }

    private long newest() throws Exception {
        return schema.count("SELECT max(id) FROM rowlock_job");
    }

    private long runNow() {
        return schedules.runNow("s", ADA).orElseThrow().id();
    }

    private void ends(long job, Instant at) throws Exception {
        assertThat(schema.update(
                        "UPDATE rowlock_job SET state = 'completed', finished_at = ?::timestamptz WHERE id = ?",
                        at.toString(),
                        job))
                .isEqualTo(1);
    }

    private Instant nextAt() {
        return schedules.find("s").orElseThrow().course().nextAt();
    }

    @Test
    void skip_asks_for_the_job_of_the_instant_before_though_one_was_run_by_hand_since() throws Exception {
        skipping();
        fire();
        long atWork = newest();
        ends(runNow(), FIRST_END);

        assertThat(fire()).as("the first job is at work").isEqualTo(2);
        ends(atWork, LAST_END);
        assertThat(fire()).isEqualTo(3);
    }

    @Test
    void skip_asks_for_each_job_that_was_run_by_hand() throws Exception {
        skipping();
        long one = runNow();
        long two = runNow();
        long three = runNow();
        ends(three, FIRST_END);
        ends(one, FIRST_END);
        ends(runNow(), LAST_END);

        assertThat(fire()).as("the second is at work").isEqualTo(4);
        ends(two, LAST_END);
        assertThat(fire()).isEqualTo(5);
    }

    @Test
    void skip_asks_for_no_job_whose_row_is_gone() throws Exception {
        skipping();
        fire();
        runNow();
        schema.execute("DELETE FROM rowlock_job");
        assertThat(fire()).isEqualTo(1);
    }

    @Test
    void a_fixed_delay_counts_from_the_end_of_the_last_of_them() throws Exception {
        delayed();
        fire();
        long ofInstant = newest();
        long byHand = runNow();
        ends(byHand, LAST_END);
        assertThat(look()).isEqualTo(2);
        assertThat(nextAt()).as("the first job is at work").isNull();

        ends(ofInstant, FIRST_END);
        look();
        assertThat(nextAt()).isEqualTo(LAST_END.plus(Duration.ofHours(1)));

        fire();
        ends(newest(), FIRST_END);
        look();
        assertThat(nextAt()).as("only jobs of this round count").isEqualTo(FIRST_END.plus(Duration.ofHours(1)));
    }

    @Test
    void a_fixed_delay_makes_no_job_beside_one_that_a_person_runs() throws Exception {
        delayed();
        long one = runNow();
        long two = runNow();
        ends(one, FIRST_END);
        assertThat(fire()).isEqualTo(2);
        assertThat(nextAt()).isNull();

        schema.execute("DELETE FROM rowlock_job WHERE id = " + one);
        ends(two, LAST_END);
        look();
        assertThat(schema.count("SELECT count(*) FROM rowlock_schedule WHERE next_at BETWEEN clock_timestamp()"
                        + " + interval '58 minutes' AND clock_timestamp() + interval '61 minutes'"))
                .as("whose end nobody knows any more ended when it was missed")
                .isEqualTo(1);
    }
}
