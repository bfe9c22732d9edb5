package io.rowlock.hibernate;

import java.util.Objects;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.type.BasicType;
import org.hibernate.type.SqlTypes;
import org.hibernate.type.Type;
import org.hibernate.type.descriptor.java.JavaType;
import org.hibernate.type.format.FormatMapper;
import org.jspecify.annotations.Nullable;

/**
 * Compares values of attributes by what the row stores. Hibernate compares objects, so one whose class has no equals, as
 * behind a converter or in JSON, seems changed at every flush, and one whose equals leaves something out unchanged.
 */
final class StoredValues {
    private StoredValues() {}

    /** Whether two values of a basic attribute are stored alike; false where nobody can tell. */
    static boolean alike(
            Type type, @Nullable Object old, @Nullable Object now, @Nullable SharedSessionContractImplementor session) {
        if (old == null || now == null || !(type instanceof BasicType<?> basic)) {
            return false;
        }
        Object before = basic.convertToRelationalValue(old);
        Object after = basic.convertToRelationalValue(now);
        return Objects.deepEquals(before, after)
                || (session != null
                        && isJson(basic)
                        && json(basic, before, session).equals(json(basic, after, session)));
    }

    /** Whether the attribute's class is the application's, so that its equals may say what it likes. */
    static boolean mayLie(Type type) {
        return type instanceof BasicType<?> basic && (basic.getValueConverter() != null || isJson(basic));
    }

    private static boolean isJson(BasicType<?> type) {
        int code = type.getJdbcType().getDdlTypeCode();
        return code == SqlTypes.JSON || code == SqlTypes.JSON_ARRAY;
    }

    /** As Hibernate itself writes it. */
    @SuppressWarnings("unchecked") // the value is one of the type
    private static String json(BasicType<?> type, @Nullable Object value, SharedSessionContractImplementor session) {
        FormatMapper mapper = session.getFactory().getSessionFactoryOptions().getJsonFormatMapper();
        return mapper.toString(value, (JavaType<Object>) type.getJdbcJavaType(), session);
    }
}
