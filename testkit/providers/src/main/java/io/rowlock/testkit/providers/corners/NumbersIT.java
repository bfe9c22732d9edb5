package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import io.rowlock.worker.HandCrankedWorker;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Numbers of an entity arrive at the handler as they were. */
@Corner("Payloads")
@Tag("B36")
final class NumbersIT extends ProviderTest {
    private static final long BIG = (1L << 53) + 1;

    @Kind("measured")
    record Measured(long id, BigDecimal exact, BigDecimal attribute, Instant at, Double ratio) {}

    @Entity(name = "Meter")
    @Table(name = "meter")
    @OutboxJob(kind = "meter", on = Change.PERSIST)
    public static class Meter {
        @Id
        long id;

        @Column(name = "exact_value", precision = 38, scale = 20)
        BigDecimal exact;

        double ratio;

        @Column(name = "read_at")
        Instant at = Instant.parse("2026-11-30T10:15:30.123456Z");

        public Meter() {}

        Meter(long id, String exact, double ratio) {
            this.id = id;
            this.exact = new BigDecimal(exact);
            this.ratio = ratio;
        }

        @OutboxJob(on = Change.PERSIST)
        Measured measured(EntityChange<Meter> change) {
            return new Measured(id, exact, (BigDecimal) change.newValue("exact"), at, ratio);
        }
    }

    NumbersIT(TestSchema schema) {
        super(schema, Meter.class);
    }

    private List<Measured> handled() {
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .persistenceUnit(unit.factory())
                .build();
        List<Measured> seen = new ArrayList<>();
        try (HandCrankedWorker worker =
                rowlock.handCrankedWorker(w -> w.handle(Measured.class, (measured, job) -> seen.add(measured)))) {
            worker.drain();
        }
        return seen;
    }

    @Test
    @Corner("long, BigDecimal, double and Instant: the handler sees them exactly; ids are texts")
    void numbers() throws Exception {
        unit.commit(em -> {
            em.persist(new Meter(Long.MAX_VALUE, "100.00", 0.1));
            em.persist(new Meter(1, "0", Double.NaN));
            em.persist(new Meter(BIG, "123456789012345678.12345678901234567890", Double.MIN_VALUE));
        });
        assertThat(schema.list(
                        String.class,
                        "SELECT (payload->>'id') || ' ' || subject FROM rowlock_job WHERE kind = 'meter' ORDER BY 1"))
                .containsExactly("1 Meter:1", BIG + " Meter:" + BIG, Long.MAX_VALUE + " Meter:" + Long.MAX_VALUE);
        List<Measured> seen = handled();
        assertThat(seen).extracting(Measured::id).containsExactlyInAnyOrder(1L, Long.MAX_VALUE, BIG);
        assertThat(seen)
                .extracting(Measured::exact)
                .containsExactlyInAnyOrder(
                        new BigDecimal("0"),
                        new BigDecimal("100.00"),
                        new BigDecimal("123456789012345678.12345678901234567890"));
        assertThat(seen).allSatisfy(each -> {
            assertThat(each.attribute()).isEqualTo(each.exact());
            assertThat(each.at()).isEqualTo("2026-11-30T10:15:30.123456Z");
        });
        assertThat(seen).extracting(Measured::ratio).containsExactlyInAnyOrder(Double.NaN, 0.1, Double.MIN_VALUE);
    }
}
