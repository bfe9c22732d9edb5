package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Convert;
import jakarta.persistence.Converter;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.hibernate.annotations.DynamicUpdate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Updates that write some columns only. */
@Corner("Hibernate's own mappings")
@Tag("B35")
final class DynamicUpdateIT extends ProviderTest {
    /** Its equals lies: all are equal. */
    static final class Amount {
        final int cents;

        Amount(int cents) {
            this.cents = cents;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Amount;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    @Converter
    static final class AmountConverter implements AttributeConverter<Amount, Integer> {
        @Override
        public Integer convertToDatabaseColumn(Amount amount) {
            return amount == null ? null : amount.cents;
        }

        @Override
        public Amount convertToEntityAttribute(Integer cents) {
            return cents == null ? null : new Amount(cents);
        }
    }

    @Embeddable
    static class Terms {
        String note = "none";

        @Convert(converter = AmountConverter.class)
        Amount fee = new Amount(1);
    }

    @Entity(name = "Bill")
    @Table(name = "bill")
    @DynamicUpdate
    @OutboxJob(kind = "any", on = Change.UPDATE)
    @OutboxJob(kind = "total", on = Change.UPDATE, changed = "total")
    @OutboxJob(kind = "fee", on = Change.UPDATE, changed = "terms.fee")
    static class Bill {
        @Id
        int id;

        String text;

        @Convert(converter = AmountConverter.class)
        Amount total = new Amount(1);

        @Embedded
        Terms terms = new Terms();
    }

    DynamicUpdateIT(TestSchema schema) {
        super(schema, Bill.class, AmountConverter.class, Terms.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> em.persist(new Bill()));
        forgetJobs();
    }

    @Test
    @Corner("@DynamicUpdate: an attribute whose equals lies changed if its column was written")
    void lying_equals() throws Exception {
        unit.commit(em -> {
            Bill bill = em.find(Bill.class, 0);
            bill.text = "new";
            bill.total = new Amount(7);
            bill.terms.fee = new Amount(7);
        });
        assertThat(kinds()).containsExactly("any");
        assertThat(schema.count("SELECT count(*) FROM bill WHERE total = 1 AND fee = 1"))
                .isEqualTo(1);
        forgetJobs();
        unit.commit(em -> {
            Bill bill = em.find(Bill.class, 0);
            bill.terms.note = "new";
            bill.terms.fee = new Amount(7);
        });
        boolean written = schema.count("SELECT count(*) FROM bill WHERE fee = 7") == 1;
        assertThat(kinds().contains("fee")).isEqualTo(written);
    }
}
