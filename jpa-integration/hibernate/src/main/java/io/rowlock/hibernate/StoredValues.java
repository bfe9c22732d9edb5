package io.rowlock.hibernate;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.internal.util.SerializationHelper;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.BasicType;
import org.hibernate.type.CompositeType;
import org.hibernate.type.SqlTypes;
import org.hibernate.type.Type;
import org.hibernate.type.descriptor.java.JavaType;
import org.hibernate.type.descriptor.java.SerializableJavaType;
import org.jspecify.annotations.Nullable;

/**
 * What the database stores of a value, in a form that can be compared. Hibernate compares objects, so one whose class has
 * no equals, as behind a converter or in JSON, seems changed at every flush, and one whose equals leaves something out
 * unchanged.
 */
final class StoredValues {
    private final SessionFactoryImplementor factory;
    private final References references;

    StoredValues(SessionFactoryImplementor factory) {
        this.factory = factory;
        this.references = new References(factory);
    }

    /** Whether two values are stored alike. */
    boolean alike(Type type, @Nullable Object one, @Nullable Object other) {
        return Objects.equals(of(type, one), of(type, other));
    }

    /** Whether the attribute's class is the application's, so that its equals may say what it likes. */
    static boolean mayLie(Type type) {
        return type instanceof BasicType<?> basic
                && (basic.getValueConverter() != null || isJson(basic) || isSerialized(basic));
    }

    /** The stored form: equal where the same is stored. Collections have none of their own. */
    @Nullable
    Object of(Type type, @Nullable Object value) {
        if (type.isCollectionType()) {
            return null;
        }
        if (value == null) {
            return type instanceof BasicType<?> basic && basic.getValueConverter() != null ? ofNull(basic) : null;
        }
        if (References.is(type)) {
            return reference(type, value);
        }
        if (type instanceof CompositeType composite) {
            return parts(composite, value);
        }
        return type instanceof BasicType<?> basic ? basic(basic, value) : value;
    }

    /** Equal as the type of a column says: numbers whatever their scale, arrays by what is in them. */
    private record Column(JavaType<Object> type, Object value) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Column column && type.areEqual(value, column.value);
        }

        @Override
        public int hashCode() {
            return type.extractHashCode(value);
        }
    }

    private record Reference(String entity, @Nullable Object id) {}

    private Reference reference(Type type, Object value) {
        EntityPersister entity = references.entity(type, value);
        return new Reference(entity.getRootEntityName(), of(entity.getIdentifierType(), references.id(value)));
    }

    private List<@Nullable Object> parts(CompositeType type, Object composite) {
        Type[] types = type.getSubtypes();
        @Nullable Object[] values = type.getPropertyValues(composite);
        List<@Nullable Object> parts = new ArrayList<>(types.length);
        for (int i = 0; i < types.length; i++) {
            parts.add(of(types[i], values[i]));
        }
        return parts;
    }

    /** A converter may store something for null; or take no null, where the column has none. */
    private @Nullable Object ofNull(BasicType<?> type) {
        try {
            return basic(type, null);
        } catch (RuntimeException takesNoNull) {
            return null;
        }
    }

    @SuppressWarnings("unchecked") // the value is one of the type
    private @Nullable Object basic(BasicType<?> type, @Nullable Object value) {
        Object stored = type.convertToRelationalValue(value);
        if (stored == null) {
            return null;
        }
        JavaType<Object> column = (JavaType<Object>) type.getJdbcJavaType();
        if (isJson(type)) {
            return StoredJson.of(stored, column, factory);
        }
        return isSerialized(type) ? bytes((Serializable) stored) : new Column(column, stored);
    }

    /** Of a copy, as the value before is one: the bytes of a collection tell how large it was made. */
    private static ByteBuffer bytes(Serializable object) {
        return ByteBuffer.wrap(SerializationHelper.serialize((Serializable) SerializationHelper.clone(object)));
    }

    private static boolean isJson(BasicType<?> type) {
        int code = type.getJdbcType().getDdlTypeCode();
        return code == SqlTypes.JSON || code == SqlTypes.JSON_ARRAY;
    }

    private static boolean isSerialized(BasicType<?> type) {
        return type.getJdbcJavaType() instanceof SerializableJavaType && !isJson(type);
    }
}
