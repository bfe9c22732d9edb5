package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.hibernate.annotations.DynamicUpdate;
import org.hibernate.annotations.Immutable;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.annotations.SQLDelete;
import org.hibernate.annotations.SQLRestriction;
import org.hibernate.annotations.SoftDelete;
import org.hibernate.type.SqlTypes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Mappings of all sorts: what really changed makes its job, and nothing else does. */
@Corner("Mappings")
@Tag("B35")
final class MappingsIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    /** Has no equals. */
    static class Options {
        public String finish;
        public List<String> extras = new ArrayList<>();
    }

    /** Its equals lies: two of one currency are equal, whatever the amount. */
    static class Price {
        public String currency = "EUR";
        public int amount;

        @Override
        public boolean equals(Object other) {
            return other instanceof Price price && Objects.equals(price.currency, currency);
        }

        @Override
        public int hashCode() {
            return Objects.hashCode(currency);
        }
    }

    @Entity(name = "Car")
    @Table(name = "car")
    @DynamicUpdate
    static class Car {
        @Id
        int id;

        @Version
        int version;

        String plate;

        @JdbcTypeCode(SqlTypes.JSON)
        Options options = new Options();

        @JdbcTypeCode(SqlTypes.JSON)
        Price offer = new Price();

        @Column(precision = 20, scale = 2)
        BigDecimal price = new BigDecimal("10.50");

        byte[] photo = {1, 2};

        @OutboxJob(on = Change.UPDATE)
        Told told(EntityChange<Car> change) {
            return new Told(change.dirtyAttributes().stream().sorted().toList().toString());
        }
    }

    @Entity(name = "Soft")
    @Table(name = "soft")
    @SoftDelete
    @OutboxJob(
            kind = "soft",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Soft {
        @Id
        int id;
    }

    @Entity(name = "Flagged")
    @Table(name = "flagged")
    @SQLDelete(sql = "UPDATE flagged SET gone = true WHERE id = ?")
    @SQLRestriction("gone = false")
    @OutboxJob(
            kind = "flagged",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Flagged {
        @Id
        int id;

        boolean gone;
    }

    @Entity(name = "Fixed")
    @Table(name = "fixed")
    @Immutable
    @OutboxJob(
            kind = "fixed",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Fixed {
        @Id
        int id;

        String text = "";
    }

    MappingsIT(TestSchema schema) {
        super(schema, Car.class, Soft.class, Flagged.class, Fixed.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> {
            Car car = new Car();
            car.id = 1;
            car.options.finish = "matt";
            em.persist(car);
        });
        forgetJobs();
    }

    private List<String> toldOf(Consumer<Car> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(em.find(Car.class, 1)));
        return texts("told");
    }

    @Test
    @Corner("@DynamicUpdate: the attributes that changed")
    void dynamic_update() throws Exception {
        assertThat(toldOf(car -> car.plate = "B 05")).containsExactly("[plate]");
        assertThat(toldOf(car -> {
                    car.plate = "x";
                    car.plate = "B 05";
                }))
                .isEmpty();
    }

    @Test
    @Corner("a JSON attribute without equals: UPDATE where it is stored otherwise, else no job")
    void json() throws Exception {
        assertThat(toldOf(car -> {
                    Options same = new Options();
                    same.finish = car.options.finish;
                    car.options = same;
                }))
                .isEmpty();
        assertThat(toldOf(car -> car.options.extras.add("hook"))).containsExactly("[options]");
        assertThat(toldOf(car -> car.options.finish = null)).containsExactly("[options]");
    }

    @Test
    @Corner("a JSON attribute whose equals lies: a job if its row was updated")
    void lying_json() throws Exception {
        assertToldIfStored(toldOf(car -> car.offer = price(7)), 7);
        assertToldIfStored(toldOf(car -> car.offer.amount = 8), 8);
        assertThat(toldOf(car -> car.offer = null)).containsExactly("[offer]");
    }

    private static Price price(int amount) {
        Price price = new Price();
        price.amount = amount;
        return price;
    }

    /** A version that asks equals leaves the row as it is; then there is nothing to tell. */
    private void assertToldIfStored(List<String> told, int amount) throws Exception {
        boolean stored = schema.count("SELECT count(*) FROM car WHERE (offer->>'amount')::int = ?", amount) == 1;
        assertThat(told.contains("[offer]"))
                .as("a job for the price, which was stored: %s", stored)
                .isEqualTo(stored);
    }

    @Test
    @Corner("a number with other trailing zeros, equal bytes: no job")
    void numbers_and_bytes() throws Exception {
        assertThat(toldOf(car -> car.price = new BigDecimal("10.5"))).isEmpty();
        assertThat(toldOf(car -> car.photo = new byte[] {1, 2})).isEmpty();
        assertThat(toldOf(car -> car.photo[1] = 3)).containsExactly("[photo]");
    }

    @Test
    @Corner("soft delete by @SoftDelete: REMOVE")
    void soft_delete() throws Exception {
        unit.commit(em -> {
            Soft soft = new Soft();
            soft.id = 1;
            em.persist(soft);
        });
        assertThat(changesBy(em -> em.remove(em.find(Soft.class, 1)))).containsExactly("Soft 1 REMOVE");
        assertThat(schema.count("SELECT count(*) FROM soft WHERE deleted")).isEqualTo(1);
    }

    private void flagged() {
        unit.commit(em -> em.persist(new Flagged()));
    }

    @Test
    @Corner("soft delete by @SQLDelete: REMOVE")
    void sql_delete() throws Exception {
        flagged();
        assertThat(changesBy(em -> em.remove(em.find(Flagged.class, 0)))).containsExactly("Flagged 0 REMOVE");
        assertThat(schema.count("SELECT count(*) FROM flagged WHERE gone")).isEqualTo(1);
    }

    @Test
    @Corner("soft delete by a flag that the application sets: UPDATE")
    void flag() throws Exception {
        flagged();
        assertThat(changesBy(em -> em.find(Flagged.class, 0).gone = true)).containsExactly("Flagged 0 UPDATE");
    }

    @Test
    @Corner("@Immutable: PERSIST and REMOVE, no UPDATE")
    void immutable() throws Exception {
        assertThat(changesBy(em -> em.persist(new Fixed()))).containsExactly("Fixed 0 PERSIST");
        assertThat(changesBy(em -> em.find(Fixed.class, 0).text = "x")).isEmpty();
        assertThat(changesBy(em -> em.remove(em.find(Fixed.class, 0)))).containsExactly("Fixed 0 REMOVE");
    }
}
