package io.rowlock.hibernate;

import io.rowlock.Rowlock;
import io.rowlock.RowlockBuilder;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Outbox;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a persistence unit whose names begin with {@code rowlock.}
 *
 * @param values by name, without that beginning
 */
record UnitSettings(Map<String, String> values) {
    private static final String PREFIX = "rowlock.";
    private static final List<String> KNOWN =
            List.of("schema", "table-prefix", "max-payload-bytes", "stateless", "bulk");

    UnitSettings {
        values = Map.copyOf(values);
        values.keySet().forEach(UnitSettings::checkKnown);
        checkOneOf(values, "stateless", List.of("fail", "warn"));
        checkOneOf(values, "bulk", List.of("warn", "fail", "allow"));
    }

    private static void checkOneOf(Map<String, String> values, String setting, List<String> allowed) {
        String value = values.getOrDefault(setting, allowed.get(0));
        if (!allowed.contains(value)) {
            throw new InvalidUseException(
                    PREFIX + setting + " must be " + String.join(" or ", allowed) + ", got " + value);
        }
    }

    /** Picks them out. Hibernate mixes the system properties in: unknown ones of these belong to somebody else. */
    static UnitSettings of(Map<String, @Nullable Object> properties) {
        Map<String, String> found = new TreeMap<>();
        properties.forEach((name, value) -> {
            String setting = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : "";
            boolean foreign = !KNOWN.contains(setting) && System.getProperty(name) != null;
            if (!setting.isEmpty() && value != null && !foreign) {
                found.put(setting, value.toString());
            }
        });
        return new UnitSettings(found);
    }

    boolean warnOfStateless() {
        return "warn".equals(values.get("stateless"));
    }

    /** What to do about bulk statements on annotated entities: {@code warn}, {@code fail} or {@code allow}. */
    String bulk() {
        return values.getOrDefault("bulk", "warn");
    }

    /** An outbox of the unit's own, for as long as no Rowlock is attached. */
    Outbox outbox() {
        RowlockBuilder builder = Rowlock.builder();
        setting("schema").ifPresent(builder::schema);
        setting("table-prefix").ifPresent(builder::tablePrefix);
        setting("max-payload-bytes").ifPresent(text -> builder.maxPayloadBytes(number(text)));
        return builder.build().outbox();
    }

    private Optional<String> setting(String name) {
        return Optional.ofNullable(values.get(name));
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new InvalidUseException("rowlock.max-payload-bytes must be a whole number, got " + text, e);
        }
    }

    private static void checkKnown(String setting) {
        if (!KNOWN.contains(setting)) {
            throw new InvalidUseException(
                    "Unknown persistence-unit property " + PREFIX + setting + "; known are " + KNOWN);
        }
    }
}
