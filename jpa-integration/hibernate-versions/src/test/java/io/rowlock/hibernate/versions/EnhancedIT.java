package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Entities whose bytecode was enhanced: they track what is dirty by themselves, and have lazy attributes. */
@Corner("Bytecode enhancement")
@Tag("B35")
@Tag("B45")
public final class EnhancedIT extends ProviderTest {
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

    private static final ClassLoader LOADER = new EnhancingLoader(EnhancedIT.class.getClassLoader());

    private final Class<?> type = enhanced();

    EnhancedIT(TestSchema schema) {
        super(schema, enhanced());
        unit.with("hibernate.classLoaders", List.of(LOADER));
    }

    private static Class<?> enhanced() {
        try {
            return LOADER.loadClass(EnhancedArticle.class.getName());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    @BeforeEach
    void fill() throws Exception {
        assertThat(PersistentAttributeInterceptable.class)
                .as("really enhanced: %s", type)
                .isAssignableFrom(type);
        Article article = (Article) type.getConstructor().newInstance();
        article.title("t");
        article.body("b");
        unit.commit(em -> em.persist(article));
        forgetJobs();
    }

    private Article find(EntityManager em) {
        return (Article) em.find(type, 0);
    }

    @Test
    @Corner("an update beside a lazy attribute: a job, and it is not loaded")
    void beside() throws Exception {
        unit.commit(em -> find(em).title("new"));
        assertThat(texts("told")).containsExactly("UPDATE [title] not loaded");
    }

    @Test
    @Corner("a lazy attribute that is set without being loaded: UPDATE")
    void lazy() throws Exception {
        unit.commit(em -> find(em).body("new"));
        assertThat(texts("told")).hasSize(1).first().asString().startsWith("UPDATE [body]");
    }

    @Test
    @Corner("an enhanced entity that was only read: no job; removed: REMOVE")
    void read_and_removed() throws Exception {
        unit.commit(em -> assertThat(find(em)).isNotNull());
        assertThat(kinds()).isEmpty();
        unit.commit(em -> em.remove(find(em)));
        assertThat(texts("told")).hasSize(1).first().asString().startsWith("REMOVE");
    }
}
