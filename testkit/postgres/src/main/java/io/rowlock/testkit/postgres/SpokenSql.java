package io.rowlock.testkit.postgres;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Knows which SQL a message of one client runs. A driver sends the text of a statement once (Parse) and later only its
 * name (Bind), so looking for the text in the bytes would miss every {@code COMMIT} but the first few.
 */
final class SpokenSql {

    private final Map<String, String> prepared = new HashMap<>();

    /** The SQL that the message brings or runs, or null. */
    @Nullable
    String of(WireMessage message) {
        return switch (message.type()) {
            case WireMessage.QUERY -> message.text(0);
            case WireMessage.PARSE -> {
                String sql = message.text(1);
                prepared.put(message.text(0), sql);
                yield sql;
            }
            case WireMessage.BIND -> prepared.get(message.text(1));
            default -> null;
        };
    }
}
