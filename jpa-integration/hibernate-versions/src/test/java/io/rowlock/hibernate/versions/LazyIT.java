package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import io.rowlock.testkit.providers.ProviderUnit;
import jakarta.persistence.EntityManager;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lazy attributes of classes that Hibernate has enhanced: no job loads them. */
@Corner("Hibernate's own mappings")
@Tag("B45")
final class LazyIT extends ProviderTest {
    private static final EnhancingLoader LOADER =
            new EnhancingLoader(LazyIT.class.getClassLoader(), LazyEssay.class, LazyKeyed.class);

    private final Class<?> type = LOADER.enhanced(LazyEssay.class);

    LazyIT(TestSchema schema) {
        super(schema, LOADER.enhanced(LazyEssay.class));
        unit.with("hibernate.classLoaders", List.of(LOADER));
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> {
            Essay essay = LOADER.create(LazyEssay.class, Essay.class);
            essay.text("long");
            em.persist(essay);
        });
        forgetJobs();
    }

    /** What the test sees of the enhanced class, which is not the one that the compiler knows. */
    public interface Essay {
        void title(String title);

        void text(String text);

        void fee(int fee);
    }

    private List<String> toldBy(Consumer<Essay> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(find(em)));
        return texts("told");
    }

    private Essay find(EntityManager em) {
        return (Essay) em.find(type, 0);
    }

    @Test
    @Corner("a lazy attribute that was not loaded: unchanged, its value not known; set: an UPDATE")
    void not_loaded() throws Exception {
        assertThat(toldBy(essay -> essay.title("new"))).containsExactly("[title] not known, read: long");
        assertThat(toldBy(essay -> essay.text("short"))).containsExactly("[text] short, read: short");
        assertThat(toldBy(essay -> essay.fee(5))).containsExactly("[fee] not known, read: short");
    }

    @Test
    @Corner("`orderedBy` or `subject` by a lazy attribute: refused at the start")
    void key() {
        try (ProviderUnit refused = ProviderUnit.on(schema, LOADER.enhanced(LazyKeyed.class))
                .with("hibernate.classLoaders", List.of(LOADER))) {
            assertThatThrownBy(refused::factory).hasStackTraceContaining("names region, which is lazy");
        }
    }
}
