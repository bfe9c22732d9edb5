package io.rowlock.hibernate.versions;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.stream.Stream;
import org.hibernate.bytecode.enhance.spi.DefaultEnhancementContext;
import org.hibernate.bytecode.enhance.spi.Enhancer;
import org.hibernate.bytecode.enhance.spi.UnloadedClass;
import org.hibernate.bytecode.enhance.spi.UnloadedField;
import org.hibernate.bytecode.internal.bytebuddy.BytecodeProviderImpl;

/** Loads some classes enhanced, as a build with Hibernate's plugin makes them, and all others as they are. */
final class EnhancingLoader extends ClassLoader {
    private final List<String> names;
    private final Enhancer enhancer;

    EnhancingLoader(ClassLoader parent, Class<?>... types) {
        super(parent);
        this.names = Stream.of(types).map(Class::getName).toList();
        this.enhancer = new BytecodeProviderImpl().getEnhancer(new DefaultEnhancementContext() {
            @Override
            public ClassLoader getLoadingClassLoader() {
                return getParent();
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

    Class<?> enhanced(Class<?> type) {
        try {
            return loadClass(type.getName());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    <T> T create(Class<?> type, Class<T> seenAs) {
        try {
            return seenAs.cast(enhanced(type).getConstructor().newInstance());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!names.contains(name)) {
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
