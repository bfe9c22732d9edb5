package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A kind of job: its stable name, older names it also answers to, the type of its payload, and the payload's version.
 * Immutable and safe for use by many threads.
 *
 * @param <T> the type of the payload
 * @param name the name written to the row: 1 to 200 characters, not blank, no control characters
 * @param payloadType the class the payload is read back as; it is never stored
 * @param aliases older names, under which jobs are claimed but never written
 * @param version the version of the payload that is written, 1 to 10,000
 */
public record JobKind<T>(String name, Class<T> payloadType, List<String> aliases, int version) {
    private static final int HIGHEST = 10_000;

    public JobKind {
        if (payloadType == null) {
            throw new InvalidUseException("A job kind needs a payload type, got null (kind=" + name + ")");
        }
        Texts.indexed("kind", name);
        if (aliases == null) {
            throw new InvalidUseException("The aliases of a kind must not be null (kind=" + name + ")");
        }
        aliases = Collections.unmodifiableList(new ArrayList<>(aliases));
        aliases.forEach(alias -> Texts.indexed("alias of kind " + name, alias));
        if (version < 1 || version > HIGHEST) {
            throw new InvalidUseException(
                    "The version of kind " + name + " must be between 1 and " + HIGHEST + ", got " + version);
        }
    }

    /**
     * A kind whose payload has version 1.
     *
     * @param name the kind's name
     * @param payloadType the class the payload is read back as
     * @param aliases older names
     * @throws InvalidUseException if something is null or a name is not allowed
     */
    public JobKind(String name, Class<T> payloadType, List<String> aliases) {
        this(name, payloadType, aliases, 1);
    }

    /**
     * The kind a payload type names by {@link Kind}.
     *
     * @param payloadType a class annotated with {@link Kind}
     * @param <T> the type of the payload
     * @return its kind
     * @throws InvalidUseException if the class is null, has no {@link Kind}, or the name or version is not allowed
     */
    public static <T> JobKind<T> of(Class<T> payloadType) {
        if (payloadType == null) {
            throw new InvalidUseException("The payload type of a kind must not be null");
        }
        Kind kind = payloadType.getAnnotation(Kind.class);
        if (kind == null) {
            throw new InvalidUseException("Payload type " + payloadType.getName() + " has no kind: annotate it with"
                    + " @Kind(\"a-stable-name\"), or give the kind with JobKind.named(name, type)");
        }
        try {
            return new JobKind<>(kind.value(), payloadType, List.of(kind.aliases()), kind.version());
        } catch (InvalidUseException e) {
            throw new InvalidUseException(e.getMessage() + " (@Kind of " + payloadType.getName() + ")", e);
        }
    }

    /**
     * A kind for a payload type that cannot be annotated, or that serves several kinds.
     *
     * @param name the kind's name
     * @param payloadType the class the payload is read back as
     * @param <T> the type of the payload
     * @return the kind, without aliases, with version 1
     * @throws InvalidUseException if the name is not allowed
     */
    public static <T> JobKind<T> named(String name, Class<T> payloadType) {
        return new JobKind<>(name, payloadType, List.of());
    }

    /**
     * The same kind with another version of its payload.
     *
     * @param version 1 to 10,000
     * @return the kind
     * @throws InvalidUseException if out of range
     */
    public JobKind<T> version(int version) {
        return new JobKind<>(name, payloadType, aliases, version);
    }
}
