package io.rowlock.hibernate;

import java.math.BigDecimal;
import java.net.InetAddress;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
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
        Object normal = normal(stored);
        return normal == null ? ((JavaType<Object>) type.getJdbcJavaType()).toString(stored) : normal.toString();
    }

    /** As it is read again: a time without its zone, in microseconds; null for anything else. */
    private static @Nullable Object normal(Object stored) {
        if (stored instanceof LocalDateTime local) {
            return micros(local.toInstant(ZoneOffset.UTC))
                    .atOffset(ZoneOffset.UTC)
                    .toLocalDateTime();
        } else if (stored instanceof OffsetDateTime offset) {
            return micros(offset.toInstant());
        } else if (stored instanceof ZonedDateTime zoned) {
            return micros(zoned.toInstant());
        } else if (stored instanceof Instant instant) {
            return micros(instant);
        }
        return stored instanceof InetAddress address ? address.getHostAddress() : null;
    }

    /** Rounded, as the driver does. */
    private static Instant micros(Instant time) {
        return time.plusNanos(500).truncatedTo(ChronoUnit.MICROS);
    }
}
