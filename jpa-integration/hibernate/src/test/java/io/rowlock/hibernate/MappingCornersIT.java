package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Column;
import jakarta.persistence.Convert;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hibernate.Session;
import org.hibernate.annotations.DynamicUpdate;
import org.hibernate.annotations.Immutable;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.annotations.SQLDelete;
import org.hibernate.annotations.SQLRestriction;
import org.hibernate.annotations.SoftDelete;
import org.hibernate.type.SqlTypes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Mappings of all sorts: what really changed makes its job, and nothing else does. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("B35")
final class MappingCornersIT {
    @Kind("told")
    record Told(String text) {}

    /** Has no equals. */
    static class Color {
        int rgb;

        static Color of(int rgb) {
            Color color = new Color();
            color.rgb = rgb;
            return color;
        }
    }

    static class ColorConverter implements AttributeConverter<Color, Integer> {
        @Override
        public Integer convertToDatabaseColumn(Color color) {
            return color == null ? null : color.rgb;
        }

        @Override
        public Color convertToEntityAttribute(Integer rgb) {
            return rgb == null ? null : Color.of(rgb);
        }
    }

    /** Has no equals. */
    static class Options {
        public String finish;
        public List<String> extras = new ArrayList<>();
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

        @Convert(converter = ColorConverter.class)
        Color color = Color.of(1);

        @JdbcTypeCode(SqlTypes.JSON)
        Options options = new Options();

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

    private final TestSchema schema;
    private final TestUnit unit;

    MappingCornersIT(TestSchema schema) {
        this.schema = schema;
        this.unit = TestUnit.on(schema, Car.class, Soft.class, Flagged.class, Fixed.class);
    }

    @BeforeAll
    void start() {
        TestUnit.install(schema);
        unit.factory();
    }

    @BeforeEach
    void fill() throws Exception {
        for (String table : List.of("car", "soft", "flagged", "fixed")) {
            schema.execute("DELETE FROM " + table);
        }
        unit.commit(em -> {
            Car car = new Car();
            car.id = 1;
            car.options.finish = "matt";
            em.persist(car);
        });
        schema.execute("DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private List<String> toldOf(Consumer<Car> work) throws Exception {
        schema.execute("DELETE FROM rowlock_job");
        unit.commit(em -> work.accept(em.find(Car.class, 1)));
        return schema.list(String.class, "SELECT payload->>'text' FROM rowlock_job ORDER BY id");
    }

    private List<String> changes(String kind) throws Exception {
        return schema.list(
                String.class, "SELECT payload->>'change' FROM rowlock_job WHERE kind = '" + kind + "' ORDER BY id");
    }

    @Test
    void dynamic_update_tells_what_changed() throws Exception {
        assertThat(toldOf(car -> car.plate = "B 05")).containsExactly("[plate]");
    }

    @Test
    void attributes_without_equals_that_were_only_read_make_no_job() throws Exception {
        assertThat(toldOf(car -> assertThat(car.color.rgb).isEqualTo(1))).isEmpty();
        assertThat(toldOf(car -> car.color = Color.of(1))).isEmpty();
        assertThat(toldOf(car -> {
                    Options same = new Options();
                    same.finish = "matt";
                    car.options = same;
                }))
                .isEmpty();
    }

    @Test
    void attributes_without_equals_that_changed_do() throws Exception {
        assertThat(toldOf(car -> car.color = Color.of(2))).containsExactly("[color]");
        assertThat(toldOf(car -> car.options.extras.add("hook"))).containsExactly("[options]");
        assertThat(toldOf(car -> car.options.finish = null)).containsExactly("[options]");
    }

    @Test
    void number_with_other_trailing_zeros_and_equal_bytes_are_no_change() throws Exception {
        assertThat(toldOf(car -> car.price = new BigDecimal("10.5"))).isEmpty();
        assertThat(toldOf(car -> car.photo = new byte[] {1, 2})).isEmpty();
        assertThat(toldOf(car -> car.photo[1] = 3)).containsExactly("[photo]");
    }

    @Test
    void value_changed_and_changed_back_is_no_change() throws Exception {
        assertThat(toldOf(car -> {
                    car.plate = "x";
                    car.plate = null;
                }))
                .isEmpty();
    }

    @Test
    void soft_delete_is_a_removal() throws Exception {
        unit.commit(em -> {
            Soft soft = new Soft();
            soft.id = 1;
            em.persist(soft);
        });
        unit.commit(em -> em.remove(em.find(Soft.class, 1)));
        assertThat(changes("soft")).containsExactly("PERSIST", "REMOVE");
    }

    @Test
    void delete_by_a_statement_of_the_mapping_is_a_removal_and_the_flag_set_by_hand_an_update() throws Exception {
        for (int id = 1; id <= 2; id++) {
            Flagged flagged = new Flagged();
            flagged.id = id;
            unit.commit(em -> em.persist(flagged));
        }
        unit.commit(em -> em.remove(em.find(Flagged.class, 1)));
        unit.commit(em -> em.find(Flagged.class, 2).gone = true);
        assertThat(changes("flagged")).containsExactly("PERSIST", "PERSIST", "REMOVE", "UPDATE");
    }

    @Test
    void immutable_and_read_only_entities_make_no_update() throws Exception {
        unit.commit(em -> {
            Fixed fixed = new Fixed();
            fixed.id = 1;
            em.persist(fixed);
        });
        unit.commit(em -> em.find(Fixed.class, 1).text = "x");
        assertThat(changes("fixed")).containsExactly("PERSIST");
        unit.commit(em -> {
            em.unwrap(Session.class).setDefaultReadOnly(true);
            em.find(Car.class, 1).plate = "x";
        });
        assertThat(unit.kinds()).containsExactly("fixed");
    }
}
