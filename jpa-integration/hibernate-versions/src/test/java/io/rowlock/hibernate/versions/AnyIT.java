package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Column;
import jakarta.persistence.DiscriminatorType;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.Table;
import java.util.List;
import java.util.function.BiConsumer;
import org.hibernate.annotations.Any;
import org.hibernate.annotations.AnyDiscriminator;
import org.hibernate.annotations.AnyDiscriminatorValue;
import org.hibernate.annotations.AnyKeyJavaClass;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** References to rows of several entities. */
@Corner("Hibernate's own mappings")
@Tag("B35")
final class AnyIT extends ProviderTest {
    @Entity(name = "Photo")
    @Table(name = "photo")
    static class Photo {
        @Id
        int id;

        Photo() {}

        Photo(int id) {
            this.id = id;
        }
    }

    @Entity(name = "Film")
    @Table(name = "film")
    static class Film {
        @Id
        int id;

        Film() {}

        Film(int id) {
            this.id = id;
        }
    }

    @Entity(name = "Caption")
    @Table(name = "caption")
    @OutboxJob(
            kind = "caption",
            on = {Change.PERSIST, Change.UPDATE},
            orderedBy = "of",
            subject = "of")
    @OutboxJob(kind = "of", on = Change.UPDATE, changed = "of")
    static class Caption {
        @Id
        int id;

        String text;

        @Any
        @AnyKeyJavaClass(Integer.class)
        @AnyDiscriminator(DiscriminatorType.STRING)
        @AnyDiscriminatorValue(discriminator = "P", entity = Photo.class)
        @AnyDiscriminatorValue(discriminator = "F", entity = Film.class)
        @Column(name = "of_what")
        @JoinColumn(name = "of_id")
        Object of;
    }

    AnyIT(TestSchema schema) {
        super(schema, Photo.class, Film.class, Caption.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> {
            em.persist(new Photo(1));
            em.persist(new Film(1));
            em.persist(new Caption());
        });
        forgetJobs();
    }

    private List<String> jobsBy(BiConsumer<Caption, EntityManager> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(em.find(Caption.class, 0), em));
        return schema.list(
                String.class, "SELECT concat_ws(' ', kind, subject, ordering_key) FROM rowlock_job ORDER BY kind");
    }

    @Test
    @Corner("@Any: another row, or a row of another entity, is an UPDATE, the same one no job")
    void changed() throws Exception {
        assertThat(jobsBy((caption, em) -> caption.of = em.find(Photo.class, 1)))
                .containsExactly("caption Photo:1 Photo:1", "of Caption:0");
        assertThat(jobsBy((caption, em) -> caption.of = em.getReference(Photo.class, 1)))
                .isEmpty();
        assertThat(jobsBy((caption, em) -> caption.of = em.getReference(Film.class, 1)))
                .containsExactly("caption Film:1 Film:1", "of Caption:0");
        assertThat(jobsBy((caption, em) -> caption.text = "new")).containsExactly("caption Film:1 Film:1");
        assertThat(jobsBy((caption, em) -> caption.of = null)).containsExactly("caption Caption:0", "of Caption:0");
    }
}
