package io.rowlock.hibernate;

import java.util.List;
import java.util.Map;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.type.descriptor.java.JavaType;
import org.hibernate.type.format.FormatMapper;
import org.jspecify.annotations.Nullable;

/** JSON as Hibernate itself writes it; equal whatever the order of attributes. */
final class StoredJson {
    private final String text;
    private final SessionFactoryImplementor factory;

    private StoredJson(String text, SessionFactoryImplementor factory) {
        this.text = text;
        this.factory = factory;
    }

    static StoredJson of(Object value, JavaType<Object> type, SessionFactoryImplementor factory) {
        return new StoredJson(mapper(factory).toString(value, type, factory.getWrapperOptions()), factory);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof StoredJson json && (text.equals(json.text) || parsed().equals(json.parsed()));
    }

    @Override
    public int hashCode() {
        return StoredJson.class.hashCode(); // two texts may say the same
    }

    private Object parsed() {
        if (text.startsWith("{")) {
            return parsed(Map.class);
        }
        return text.startsWith("[") ? parsed(List.class) : text;
    }

    private Object parsed(Class<?> as) {
        JavaType<Object> type =
                factory.getTypeConfiguration().getJavaTypeRegistry().resolveDescriptor(as);
        return mapper(factory).fromString(text, type, factory.getWrapperOptions());
    }

    private static FormatMapper mapper(SessionFactoryImplementor factory) {
        return factory.getSessionFactoryOptions().getJsonFormatMapper();
    }
}
