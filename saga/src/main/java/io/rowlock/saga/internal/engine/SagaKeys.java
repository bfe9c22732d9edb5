package io.rowlock.saga.internal.engine;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Names that are made of other names: hashed, as those may be long and of any letters. */
public final class SagaKeys {
    private static final int BYTES = 16;
    private static final String CHILD_SIGNAL = "rowlock-child-";

    private SagaKeys() {}

    /** The idempotency key of a step, or of its compensation. */
    static String step(String installation, String saga, String step, boolean compensation) {
        return installation + '-' + hash(saga + '\0' + step + '\0' + (compensation ? "undo" : "do"));
    }

    /** The signal by which a child tells the step that waits for it. */
    static String childSignal(String step) {
        return CHILD_SIGNAL + hash(step);
    }

    static boolean isChildSignal(String signal) {
        return signal.startsWith(CHILD_SIGNAL);
    }

    /** The id of a child: its parent's and its step's, hashed where that is too long for an id, or could be another's. */
    static String child(String parent, String step) {
        String readable = parent + '/' + step;
        if (readable.length() <= 200 && !step.contains("/")) {
            return readable;
        }
        return readable.substring(0, Math.min(160, readable.length())) + '-' + hash(parent + '\0' + step);
    }

    /** The kind of the jobs that drive sagas of this name and version. */
    static String driverKind(String name, int version) {
        String readable = "saga/" + name + "/" + version;
        return readable.length() <= 200
                ? readable
                : "saga/" + name.substring(0, 120) + '-' + hash(readable) + '/' + version;
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, BYTES);
        } catch (NoSuchAlgorithmException everyJvmHasIt) {
            throw new IllegalStateException(everyJvmHasIt);
        }
    }
}
