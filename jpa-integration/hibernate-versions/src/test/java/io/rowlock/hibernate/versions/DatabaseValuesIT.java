package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.hibernate.annotations.GeneratedColumn;
import org.junit.jupiter.api.Test;

/** Values that the database makes are read back before the jobs are made. */
@Corner("Values made by the database")
final class DatabaseValuesIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    @Entity(name = "Price")
    @Table(name = "price")
    @OutboxJob(
            kind = "price",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE},
            ignoring = "gross",
            orderedBy = "gross")
    static class Price {
        @Id
        int id;

        int net = 1;

        @GeneratedColumn("net * 2")
        Integer gross;

        @OutboxJob(on = Change.UPDATE)
        Told told(EntityChange<Price> change) {
            return new Told(change.oldValue("gross") + " to " + change.newValue("gross"));
        }
    }

    DatabaseValuesIT(TestSchema schema) {
        super(schema, Price.class);
    }

    @Test
    @Corner("orderedBy, old and new value: the values of the row")
    void known() throws Exception {
        unit.commit(em -> em.persist(new Price()));
        unit.commit(em -> em.find(Price.class, 0).net = 5);
        unit.commit(em -> em.remove(em.find(Price.class, 0)));
        assertThat(schema.list(
                        String.class,
                        "SELECT ordering_key || ' ' || (payload->>'change') FROM rowlock_job WHERE kind = 'price'"
                                + " ORDER BY id"))
                .containsExactly("Price.gross:2 PERSIST", "Price.gross:10 UPDATE", "Price.gross:10 REMOVE");
        assertThat(texts("told")).containsExactly("2 to 10");
    }
}
