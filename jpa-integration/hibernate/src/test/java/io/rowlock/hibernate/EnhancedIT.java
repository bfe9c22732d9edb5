package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.EntityManager;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.hibernate.bytecode.enhance.spi.DefaultEnhancementContext;
import org.hibernate.bytecode.enhance.spi.Enhancer;
import org.hibernate.bytecode.enhance.spi.UnloadedClass;
import org.hibernate.bytecode.enhance.spi.UnloadedField;
import org.hibernate.bytecode.internal.bytebuddy.BytecodeProviderImpl;
import org.hibernate.engine.spi.PersistentAttributeInterceptable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Entities whose bytecode was enhanced: they track what is dirty by themselves, and have lazy attributes. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("B35")
@Tag("B45")
public final class EnhancedIT {
    @Kind("told")
    public record Told(String text) {}

    /** What the test sees of the enhanced class, which is not the one that the compiler knows. */
    public interface Article {
        void title(String title);

        void body(String body);
    }

    /** Loads the entity enhanced, and all other classes as they are. */
    private static final class EnhancingLoader extends ClassLoader {
        private final Enhancer enhancer;

        private EnhancingLoader(ClassLoader parent) {
            super(parent);
            this.enhancer = new BytecodeProviderImpl().getEnhancer(new DefaultEnhancementContext() {
                @Override
                public ClassLoader getLoadingClassLoader() {
                    return getParent();
                }

                @Override
                public boolean doDirtyCheckingInline(UnloadedClass type) {
                    return true;
                }

                @Override
                public boolean hasLazyLoadableAttributes(UnloadedClass type) {
                    return true;
                }

                @Override
                public boolean isLazyLoadable(UnloadedField field) {
                    return true;
                }
            });
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(EnhancedArticle.class.getName())) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = enhancer.enhance(name, in.readAllBytes());
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private final TestSchema schema;
    private Class<?> type;
    private TestUnit unit;

    EnhancedIT(TestSchema schema) {
        this.schema = schema;
    }

    @BeforeAll
    void start() throws Exception {
        TestUnit.install(schema);
        ClassLoader loader = new EnhancingLoader(EnhancedIT.class.getClassLoader());
        type = loader.loadClass(EnhancedArticle.class.getName());
        unit = TestUnit.on(schema, type).with("hibernate.classLoaders", List.of(loader));
        unit.factory();
    }

    @BeforeEach
    void fill() throws Exception {
        schema.execute("DELETE FROM article");
        unit.commit(em -> {
            try {
                Article article = (Article) type.getConstructor().newInstance();
                article.title("t");
                article.body("b");
                em.persist(article);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        });
        schema.execute("DELETE FROM rowlock_job");
    }

    @AfterAll
    void close() {
        unit.close();
    }

    private Article find(EntityManager em) {
        return (Article) em.find(type, 0);
    }

    private List<String> told() throws Exception {
        return schema.list(String.class, "SELECT payload->>'text' FROM rowlock_job ORDER BY id");
    }

    @Test
    void entity_is_really_enhanced() {
        assertThat(PersistentAttributeInterceptable.class).isAssignableFrom(type);
    }

    @Test
    void update_beside_a_lazy_attribute_does_not_load_it() throws Exception {
        unit.commit(em -> find(em).title("new"));
        assertThat(told()).containsExactly("UPDATE [title] not loaded");
    }

    @Test
    void lazy_attribute_that_is_set_without_being_loaded_is_an_update() throws Exception {
        unit.commit(em -> find(em).body("new"));
        assertThat(told()).hasSize(1).first().asString().startsWith("UPDATE [body]");
    }

    @Test
    void read_makes_no_job_and_removal_one() throws Exception {
        unit.commit(em -> assertThat(find(em)).isNotNull());
        assertThat(told()).isEmpty();
        unit.commit(em -> em.remove(find(em)));
        assertThat(told()).hasSize(1).first().asString().startsWith("REMOVE");
    }
}
