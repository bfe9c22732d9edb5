package io.rowlock.hibernate;

import java.math.BigDecimal;
import java.util.Set;
import org.hibernate.type.BasicType;
import org.hibernate.type.CustomType;
import org.hibernate.type.SqlTypes;
import org.hibernate.type.Type;
import org.hibernate.type.descriptor.java.JavaType;
import org.hibernate.type.descriptor.java.SerializableJavaType;
import org.hibernate.usertype.EnhancedUserType;
import org.jspecify.annotations.Nullable;

/**
 * What the database stores of a basic value, as text: the same for values stored alike, whatever the toString of their
 * class says and whatever it will be called.
 */
final class StoredText {
    private static final Set<Integer> WITHOUT =
            Set.of(SqlTypes.JSON, SqlTypes.JSON_ARRAY, SqlTypes.SQLXML, SqlTypes.CLOB, SqlTypes.NCLOB, SqlTypes.BLOB);

    private StoredText() {}

    /** Whether values of the type have a text: not what is serialized, JSON, XML, a LOB, or bound by a bare UserType. */
    static boolean has(Type type) {
        if (!(type instanceof BasicType<?> basic)) {
            return true;
        }
        boolean converted = basic.getValueConverter() != null;
        return !WITHOUT.contains(basic.getJdbcType().getDdlTypeCode())
                && !(basic.getJdbcJavaType() instanceof SerializableJavaType)
                && (converted || !(type instanceof CustomType<?> custom) || hasText(custom));
    }

    private static boolean hasText(CustomType<?> type) {
        Class<?> values = type.getReturnedClass();
        return type.getUserType() instanceof EnhancedUserType
                || values.getName().startsWith("java.");
    }

    /** A number, truth or bytes as they are, anything else as text; null where null is stored. */
    @SuppressWarnings({"unchecked", "EnumOrdinal"}) // the value is one of the type; the ordinal is what is stored
    static @Nullable Object of(BasicType<?> type, Object value) {
        Object stored = type.convertToRelationalValue(value);
        if (stored instanceof Enum<?> constant) {
            return type.getJdbcType().isInteger() ? (Object) constant.ordinal() : constant.name();
        }
        if (stored instanceof BigDecimal number) {
            return new BigDecimal(number.stripTrailingZeros().toPlainString()); // a column may have another scale
        }
        if (stored == null || stored instanceof Number || stored instanceof Boolean || stored instanceof byte[]) {
            return stored;
        }
        return ((JavaType<Object>) type.getJdbcJavaType()).toString(stored);
    }
}
