package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Convert;
import jakarta.persistence.Converter;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Converted attributes are compared by what the row stores, whatever their equals says. */
@Corner("Converters")
@Tag("B35")
final class ConvertersIT extends ProviderTest {
    /** Has no equals: two of the same color differ. */
    public static class Color {
        final int rgb;

        Color(int rgb) {
            this.rgb = rgb;
        }
    }

    @Converter
    public static class ColorConverter implements AttributeConverter<Color, Integer> {
        @Override
        public Integer convertToDatabaseColumn(Color color) {
            return color == null ? null : color.rgb;
        }

        @Override
        public Color convertToEntityAttribute(Integer rgb) {
            return rgb == null ? null : new Color(rgb);
        }
    }

    /** Its equals lies: two of one currency are equal, whatever the amount. */
    public static class Money {
        final String currency;
        final int amount;

        Money(String currency, int amount) {
            this.currency = currency;
            this.amount = amount;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Money money && money.currency.equals(currency);
        }

        @Override
        public int hashCode() {
            return currency.hashCode();
        }
    }

    @Converter
    public static class MoneyConverter implements AttributeConverter<Money, String> {
        @Override
        public String convertToDatabaseColumn(Money money) {
            return money == null ? null : money.currency + " " + money.amount;
        }

        @Override
        public Money convertToEntityAttribute(String text) {
            return text == null ? null : new Money(text.substring(0, 3), Integer.parseInt(text.substring(4)));
        }
    }

    /** Is stored serialized, and its equals lies: two of one garage are equal. */
    public static class Stamp implements Serializable {
        private static final long serialVersionUID = 1L;

        final String garage;
        final List<String> stamps = new ArrayList<>(50);

        Stamp(String garage) {
            this.garage = garage;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Stamp stamp && stamp.garage.equals(garage);
        }

        @Override
        public int hashCode() {
            return garage.hashCode();
        }
    }

    @Entity(name = "Car")
    @Table(name = "car")
    @OutboxJob(kind = "car", on = Change.UPDATE)
    @OutboxJob(kind = "color", on = Change.UPDATE, changed = "color")
    @OutboxJob(kind = "price", on = Change.UPDATE, changed = "price")
    @OutboxJob(kind = "stamp", on = Change.UPDATE, changed = "stamp")
    @OutboxJob(kind = "place", on = Change.UPDATE, changed = "_place")
    public static class Car {
        @Id
        int id;

        String plate;

        @Convert(converter = ColorConverter.class)
        Color color = new Color(1);

        @Convert(converter = MoneyConverter.class)
        Money price = new Money("EUR", 5);

        Stamp stamp = new Stamp("north");

        @Convert(converter = FlagConverter.class)
        Boolean sold = false;

        String _place = "hall";
    }

    /** Stores the same for null and false. */
    @Converter
    public static class FlagConverter implements AttributeConverter<Boolean, String> {
        @Override
        public String convertToDatabaseColumn(Boolean flag) {
            return Boolean.TRUE.equals(flag) ? "Y" : "N";
        }

        @Override
        public Boolean convertToEntityAttribute(String text) {
            return "Y".equals(text);
        }
    }

    ConvertersIT(TestSchema schema) {
        super(schema, Car.class, ColorConverter.class, MoneyConverter.class, FlagConverter.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> em.persist(new Car()));
        forgetJobs();
    }

    private List<String> kindsBy(Consumer<Car> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(em.find(Car.class, 0)));
        return kinds();
    }

    @Test
    @Corner("a converted attribute that changed: UPDATE")
    void changed() throws Exception {
        assertThat(kindsBy(car -> car.color = new Color(2))).containsExactly("car", "color");
        assertThat(kindsBy(car -> car.price = new Money("USD", 5))).containsExactly("car", "price");
    }

    @Test
    @Corner("a converted attribute without equals that is stored as before: no job")
    void without_equals() throws Exception {
        assertThat(kindsBy(car -> assertThat(car.color.rgb).isEqualTo(1))).isEmpty();
        assertThat(kindsBy(car -> car.color = new Color(1))).isEmpty();
    }

    @Test
    @Corner("a converter that stores the same for null as for another value: no job between them")
    void null_converted() throws Exception {
        assertThat(kindsBy(car -> car.sold = null)).isEmpty();
        assertThat(kindsBy(car -> car.sold = true)).containsExactly("car");
    }

    @Test
    @Corner("an attribute whose name begins with an underscore: as any other")
    void underscore() throws Exception {
        assertThat(kindsBy(car -> car._place = "yard")).containsExactly("car", "place");
    }

    @Test
    @Corner("a converted attribute whose equals lies: a job if its row was updated")
    void lying_equals() throws Exception {
        assertPriceJobIfStored(kindsBy(car -> car.price = new Money("EUR", 7)), 7);
        assertPriceJobIfStored(
                kindsBy(car -> {
                    car.price = new Money("EUR", 9);
                    car.plate = "B 05";
                }),
                9);
    }

    @Test
    @Corner("a serialized attribute whose equals lies: a job if its row was updated, none where it is as before")
    void serialized() throws Exception {
        List<String> kinds = kindsBy(car -> {
            car.stamp.stamps.add("2026");
            car.plate = "B 06";
        });
        int stored = unit.answer(em -> em.find(Car.class, 0).stamp.stamps.size());
        assertThat(kinds.contains("stamp")).isEqualTo(stored == 1);
        assertThat(kindsBy(car -> car.plate = "B 07")).containsExactly("car");
        unit.commit(em -> {
            Car fresh = new Car();
            fresh.id = 1;
            em.persist(fresh);
            em.flush();
            fresh.plate = "B 08";
        });
        assertThat(kinds()).containsExactly("car", "car");
    }

    /** A provider that asks equals may leave the row as it is; then there is nothing to tell. */
    private void assertPriceJobIfStored(List<String> kinds, int amount) throws Exception {
        boolean stored = schema.count("SELECT count(*) FROM car WHERE price = ?", "EUR " + amount) == 1;
        assertThat(kinds.contains("price"))
                .as("a job for the price, which was stored: %s", stored)
                .isEqualTo(stored);
    }
}
