package io.rowlock.internal.outbox;

import io.rowlock.error.RowlockException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The header that says which version of its kind's payload a job has. Absent for 1, so that most jobs have none. */
public final class PayloadVersion {
    private static final String HEADER = "rowlock-version";

    private PayloadVersion() {}

    /**
     * Headers of a job that is written with this version. Nobody else's word counts: a handler may hand on the headers of its
     * own job, which is of another kind.
     */
    public static Map<String, String> stamped(Map<String, String> headers, int version) {
        if (version == 1 && !headers.containsKey(HEADER)) {
            return headers;
        }
        Map<String, String> stamped = new LinkedHashMap<>(headers);
        stamped.remove(HEADER);
        if (version > 1) {
            stamped.put(HEADER, String.valueOf(version));
        }
        return stamped;
    }

    /** The version of a job with this headers' column. Throws where somebody's SQL wrote none that can be. */
    public static int of(@Nullable String headers) {
        if (headers == null || !headers.contains(HEADER)) {
            return 1;
        }
        String text = Headers.read(headers).getOrDefault(HEADER, "1");
        try {
            int version = Integer.parseInt(text);
            if (version >= 1) {
                return version;
            }
        } catch (NumberFormatException e) {
            throw unreadable(text);
        }
        throw unreadable(text);
    }

    private static RowlockException unreadable(String text) {
        String cut = text.length() > 100 ? text.substring(0, 100) + "..." : text;
        return new RowlockException("The header " + HEADER + " of a job must be a whole number from 1, got " + cut);
    }
}
