package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import io.rowlock.testkit.providers.ProviderUnit;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jobs of one row have one key and one subject, when it was inserted and later. */
@Corner("Names")
@Tag("B35")
final class KeysIT extends ProviderTest {
    @Entity(name = "Slot")
    @Table(name = "slot")
    @OutboxJob(
            kind = "slot",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE},
            orderedBy = "offset",
            subject = "local")
    public static class Slot {
        @Id
        Instant id = Instant.parse("2026-01-01T00:00:00.123456789Z");

        String name = "n";

        @Column(name = "off")
        OffsetDateTime offset = OffsetDateTime.parse("2026-01-01T12:00:00+02:00");

        LocalDateTime local = LocalDateTime.parse("2026-01-01T12:00:00.123456789");
    }

    public static class ShareId implements Serializable {
        private static final long serialVersionUID = 1L;

        int number;
        int slice;

        @Override
        public boolean equals(Object other) {
            return other instanceof ShareId id && id.number == number && id.slice == slice;
        }

        @Override
        public int hashCode() {
            return Objects.hash(number, slice);
        }
    }

    @Entity(name = "Slice")
    @Table(name = "slice")
    public static class Slice {
        @Id
        int id = 7;
    }

    @Entity(name = "Share")
    @Table(name = "share")
    @IdClass(ShareId.class)
    @OutboxJob(
            kind = "share",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE},
            orderedBy = "slice",
            subject = "slice")
    public static class Share {
        @Id
        int number = 1;

        @Id
        @ManyToOne
        Slice slice;

        String name;
    }

    @Entity(name = "Doubled")
    @OutboxJob(kind = "doubled", on = Change.UPDATE, orderedBy = "slice")
    public static class Doubled {
        @Id
        int id;

        @Column(name = "slice_id")
        Integer sliceId;

        @ManyToOne
        @JoinColumn(name = "slice_id", insertable = false, updatable = false)
        Slice slice;
    }

    KeysIT(TestSchema schema) {
        super(schema, Slot.class, Share.class, Slice.class);
    }

    private void assertOneName(String name) throws Exception {
        assertThat(schema.list(
                        String.class,
                        "SELECT concat_ws(' ', ordering_key, subject, payload->>'id') FROM rowlock_job ORDER BY id"))
                .containsExactly(name, name, name);
    }

    @Test
    @Corner("times as id, key and subject: the instant in UTC, in microseconds")
    void times() throws Exception {
        unit.commit(em -> em.persist(new Slot()));
        unit.commit(em -> em.createQuery("select s from Slot s", Slot.class).getSingleResult().name = "o");
        unit.commit(em ->
                em.remove(em.createQuery("select s from Slot s", Slot.class).getSingleResult()));
        assertOneName("Slot.offset:2026-01-01T10:00:00Z Slot.local:2026-01-01T12:00:00.123457"
                + " 2026-01-01T00:00:00.123457Z");
    }

    @Test
    @Corner("`orderedBy` and `subject` by a reference that is part of an @IdClass: what it refers to")
    void reference_in_id() throws Exception {
        unit.commit(em -> {
            Slice slice = new Slice();
            em.persist(slice);
            Share share = new Share();
            share.slice = slice;
            em.persist(share);
        });
        unit.commit(em -> em.createQuery("select s from Share s", Share.class).getSingleResult().name = "o");
        unit.commit(em ->
                em.remove(em.createQuery("select s from Share s", Share.class).getSingleResult()));
        assertOneName("Slice:7 Slice:7 {\"number\":1,\"slice\":7}");
    }

    @Test
    @Corner("`orderedBy` by a reference whose column another attribute writes: refused at the start")
    void read_only_reference() {
        try (ProviderUnit refused = ProviderUnit.on(schema, Doubled.class, Slice.class)) {
            assertThatThrownBy(refused::factory)
                    .hasStackTraceContaining("orderedBy names slice, whose column Doubled does not write by it");
        }
    }
}
