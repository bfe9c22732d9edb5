package io.rowlock.fault;

import static io.rowlock.fault.Scene.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import io.rowlock.Rowlock;
import io.rowlock.fault.Task.End;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.Date;
import java.util.TimeZone;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes and sessions whose clocks and zones differ. */
@PostgresTest
@Tag("P7")
@Tag("B24")
@Timeout(180)
final class ClockIT {
    private static final String FAR_EAST = "Pacific/Kiritimati";
    private static final String FAR_WEST = "Pacific/Niue";

    private final TestSchema schema;
    private final TimeZone zone = TimeZone.getDefault();
    private Scene scene;

    ClockIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeEach
    void begin() throws SQLException {
        scene = Scene.empty(schema);
    }

    @AfterEach
    void end() throws SQLException {
        TimeZone.setDefault(zone);
        scene.close();
    }

    @Test
    void job_longer_than_its_lease_is_never_stolen_by_a_node_in_another_zone() throws Exception {
        long job = scene.enqueue(Task.waiting("long"));
        try (ChildJvm east = launch("east", FAR_EAST, FAR_WEST);
                ChildJvm west = launch("west", FAR_WEST, FAR_EAST)) {
            ChildWorker.awaitStarted(east);
            ChildWorker.awaitStarted(west);
            scene.start(scene.rowlock(), scene.deeds("here"));
            patiently()
                    .until(() -> schema.count(
                                    "SELECT count(*) FROM rowlock_job j JOIN started s ON s.job_id = j.id WHERE j.id = ?"
                                            + " AND j.locked_until > s.at + interval '9 seconds'",
                                    job)
                            == 1);
            assertThat(scene.starts("long")).isOne();
            scene.close();
            east.send("open long");
            west.send("open long");
            scene.awaitState(job, "completed");
        }
        assertThat(scene.number(job, "attempts")).isOne();
        assertThat(scene.number(job, "losses")).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1})
    void job_and_lease_of_a_node_whose_clock_is_wrong_are_neither_lost_nor_taken_early_and_free_when_it_dies(int ahead)
            throws Exception {
        Duration wrong = Duration.ofHours(ahead);
        schema.execute("TRUNCATE rowlock_lease, rowlock_lease_history");
        long job = scene.enqueue(Task.waiting("long"));
        try (ChildJvm holder = launchAt("holder", FAR_EAST, wrong)) {
            scene.awaitStart("long", "holder");
            setClock(holder, wrong); // which it was from the beginning
            takeBilling(holder, true);
            try (ChildJvm other = launchAt("other", FAR_WEST, wrong.negated())) {
                ChildWorker.awaitStarted(other);
                setClock(other, wrong.negated());
                awaitKept(job, 2);
                takeBilling(other, false);
                setClock(holder, wrong.negated()); // somebody sets it while all is held
                awaitKept(job, 4);
                takeBilling(other, false);
                assertThat(scene.starts("long")).isOne();
                assertThat(schema.count("SELECT count(*) FROM rowlock_lease_history"))
                        .isOne();

                holder.kill();
                scene.awaitStart("long", "other");
                patiently()
                        .until(() ->
                                schema.count("SELECT count(*) FROM rowlock_lease WHERE expires_at <= clock_timestamp()")
                                        == 1);
                takeBilling(other, true);
                other.send("open long");
                scene.awaitState(job, "completed");
            }
        }
        assertThat(scene.starts("long")).isEqualTo(2);
    }

    /** The job's lease and the other one have been renewed for so many times to live since they were taken. */
    private void awaitKept(long job, int times) {
        String since = " + interval '" + Scene.LEASE.multipliedBy(times).toMillis() + " ms'";
        patiently()
                .until(() -> schema.count(
                                "SELECT count(*) FROM rowlock_job j, started s, rowlock_lease l WHERE j.id = ? AND s.job_id = j.id"
                                        + " AND j.locked_until > s.at" + since + " AND l.expires_at > l.taken_at"
                                        + since,
                                job)
                        == 1);
    }

    private static void takeBilling(ChildJvm child, boolean free) throws InterruptedException {
        child.send("take billing");
        child.awaitLine((free ? "taken" : "refused") + " billing", Scene.SOON);
    }

    /** And makes sure that it is wrong by so much. */
    private static void setClock(ChildJvm child, Duration offset) throws InterruptedException {
        child.send("clock " + offset);
        String said = child.awaitLine(line -> line.startsWith("clock "), Scene.SOON);
        Instant there = Instant.parse(said.substring("clock ".length()));
        assertThat(Duration.between(Instant.now(), there)).isCloseTo(offset, Duration.ofMinutes(5));
    }

    private ChildJvm launchAt(String who, String zoneOfJvm, Duration offset) {
        return ChildWorker.launch(schema, who, options -> {
            options.jvm().property("user.timezone", zoneOfJvm);
            ShiftedClock.of(options.jvm(), offset);
        });
    }

    @Test
    void retries_and_snoozes_of_a_node_in_another_zone_are_due_by_the_clock_of_the_database() throws Exception {
        long retried = scene.enqueue(Task.quick("a").then(End.THROW, 2));
        long snoozed = scene.enqueue(Task.quick("b").then(End.SNOOZE, 2));
        try (ChildJvm east = launch("east", FAR_EAST, FAR_WEST)) {
            scene.awaitState(retried, "completed");
            scene.awaitState(snoozed, "completed");
            assertThat(east.isAlive()).isTrue();
        }
        assertThat(scene.starts("a")).isEqualTo(3);
        assertThat(scene.starts("b")).isEqualTo(3);
        assertThat(scene.count("finished_at - created_at < interval '1 minute'"))
                .isEqualTo(2);
    }

    @Test
    void due_times_mean_the_same_in_every_zone() throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone(FAR_EAST));
        Rowlock east = scene.rowlock();
        Instant at = Instant.parse("2999-12-31T23:59:59.123456Z");
        TimeZone.setDefault(TimeZone.getTimeZone(FAR_WEST));
        long absolute = scene.enqueue(Task.quick("at"), options -> options.at(at));
        long relative = scene.enqueue(Task.quick("after"), options -> options.after(Duration.ofHours(1)));
        TimeZone.setDefault(zone);
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE id = ? AND run_at = ?::timestamptz",
                        absolute,
                        at.toString()))
                .isOne();
        assertThat(schema.count(
                        "SELECT count(*) FROM rowlock_job WHERE id = ? AND run_at - created_at BETWEEN"
                                + " interval '59 minutes' AND interval '61 minutes'",
                        relative))
                .isOne();
        assertThat(east.jobs().find(absolute).orElseThrow().progress().runAt().toEpochMilli())
                .isEqualTo(at.toEpochMilli());
    }

    @Test
    void no_code_of_the_core_asks_the_clock_of_its_node() {
        JavaClasses core = new ClassFileImporter()
                .withImportOption(new DoNotIncludeTests())
                .importPackages("io.rowlock.internal", "io.rowlock.job", "io.rowlock.worker", "io.rowlock.spi");
        assertThat(core).isNotEmpty();
        var rule = ArchRuleDefinition.noClasses()
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callConstructor(Date.class);
        for (Class<?> type : new Class<?>[] {
            Instant.class, LocalDate.class, LocalDateTime.class, OffsetDateTime.class, ZonedDateTime.class
        }) {
            rule = rule.orShould().callMethod(type, "now");
        }
        rule.orShould()
                .callMethod(Clock.class, "systemUTC")
                .orShould()
                .callMethod(Clock.class, "systemDefaultZone")
                .orShould()
                .callMethod(Calendar.class, "getInstance")
                .check(core);
    }

    private ChildJvm launch(String who, String zoneOfJvm, String zoneOfSession) {
        return ChildWorker.launch(schema, who, options -> {
            options.jvm().property("user.timezone", zoneOfJvm);
            options.url("&options=-c%20TimeZone=" + zoneOfSession);
        });
    }
}
