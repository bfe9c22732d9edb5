package io.rowlock.hibernate;

import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.type.descriptor.java.JavaType;
import org.hibernate.type.format.FormatMapper;
import org.jspecify.annotations.Nullable;

/** JSON as Hibernate itself writes it; equal whatever the order of attributes. */
final class StoredJson {
    private final String text;

    private StoredJson(String text) {
        this.text = text;
    }

    static StoredJson of(Object value, JavaType<Object> type, SessionFactoryImplementor factory) {
        return new StoredJson(mapper(factory).toString(value, type, factory.getWrapperOptions()));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof StoredJson json
                && (text.equals(json.text) || JsonText.read(text).equals(JsonText.read(json.text)));
    }

    @Override
    public int hashCode() {
        return StoredJson.class.hashCode(); // two texts may say the same
    }

    private static FormatMapper mapper(SessionFactoryImplementor factory) {
        return factory.getSessionFactoryOptions().getJsonFormatMapper();
    }
}
