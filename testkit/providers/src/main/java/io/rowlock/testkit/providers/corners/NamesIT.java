package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import io.rowlock.testkit.providers.ProviderUnit;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Column;
import jakarta.persistence.Convert;
import jakarta.persistence.Converter;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.math.BigDecimal;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ordering keys and subjects by attributes are what is stored of them: the same for each job of a row. */
@Corner("Annotations")
@Tag("B35")
final class NamesIT extends ProviderTest {
    /** Has no toString. */
    public static class Region {
        final String code;

        Region(String code) {
            this.code = code;
        }
    }

    @Converter
    public static class RegionConverter implements AttributeConverter<Region, String> {
        @Override
        public String convertToDatabaseColumn(Region region) {
            return region == null ? null : region.code;
        }

        @Override
        public Region convertToEntityAttribute(String code) {
            return code == null ? null : new Region(code);
        }
    }

    /** For people to read. */
    public enum Size {
        SMALL,
        LARGE;

        @Override
        public String toString() {
            return name().charAt(0) + name().substring(1).toLowerCase(Locale.ROOT);
        }
    }

    @Entity(name = "Crate")
    @Table(name = "crate")
    @OutboxJob(
            kind = "a",
            on = {Change.PERSIST, Change.UPDATE},
            orderedBy = "region",
            subject = "weight")
    @OutboxJob(
            kind = "b",
            on = {Change.PERSIST, Change.UPDATE},
            orderedBy = "size",
            subject = "rank")
    public static class Crate {
        @Id
        int id;

        String note;

        @Convert(converter = RegionConverter.class)
        Region region = new Region("EU");

        @Column(precision = 10, scale = 2)
        BigDecimal weight = new BigDecimal("5");

        @Enumerated(EnumType.STRING)
        @Column(name = "size_name")
        Size size = Size.LARGE;

        @Enumerated(EnumType.ORDINAL)
        @Column(name = "rank_number")
        Size rank = Size.LARGE;
    }

    @Entity(name = "Box")
    @Table(name = "box")
    @OutboxJob(kind = "box", on = Change.PERSIST, orderedBy = "lid")
    public static class Box {
        @Id
        int id;

        Lid lid;
    }

    public static class Lid implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    NamesIT(TestSchema schema) {
        super(schema, Crate.class, RegionConverter.class);
    }

    @BeforeEach
    void fill() {
        unit.commit(em -> em.persist(new Crate()));
    }

    @Test
    @Corner("`orderedBy` and `subject` by a converted attribute, an enum or a decimal number: what is stored")
    void stored() throws Exception {
        unit.commit(em -> em.find(Crate.class, 0).note = "new");
        assertThat(schema.list(
                        String.class,
                        "SELECT concat_ws(' ', kind, ordering_key, subject) FROM rowlock_job ORDER BY kind, id"))
                .containsExactly(
                        "a Crate.region:EU Crate.weight:5",
                        "a Crate.region:EU Crate.weight:5",
                        "b Crate.size:LARGE Crate.rank:1",
                        "b Crate.size:LARGE Crate.rank:1");
    }

    @Test
    @Corner("`orderedBy` or `subject` by what is stored serialized: refused at the start")
    void serialized() {
        try (ProviderUnit refused = ProviderUnit.on(schema, Box.class)) {
            assertThatThrownBy(refused::factory).hasStackTraceContaining("names lid, which is stored as no text");
        }
    }
}
