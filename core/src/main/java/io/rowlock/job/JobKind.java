package io.rowlock.job;

import io.rowlock.error.InvalidUseException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A kind of job: its stable name, older names it also answers to, and the type of its payload. Immutable and safe for
 * use by many threads.
 *
 * @param <T> the type of the payload
 * @param name the name written to the row: 1 to 200 characters, not blank, no control characters
 * @param payloadType the class the payload is read back as; it is never stored
 * @param aliases older names, under which jobs are claimed but never written
 */
public record JobKind<T>(String name, Class<T> payloadType, List<String> aliases) {

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
    }

    /**
     * The kind a payload type names by {@link Kind}.
     *
     * @param payloadType a class annotated with {@link Kind}
     * @param <T> the type of the payload
     * @return its kind
     * @throws InvalidUseException if the class is null, has no {@link Kind}, or the name is not allowed
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
            return new JobKind<>(kind.value(), payloadType, List.of(kind.aliases()));
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
     * @return the kind, without aliases
     * @throws InvalidUseException if the name is not allowed
     */
    public static <T> JobKind<T> named(String name, Class<T> payloadType) {
        return new JobKind<>(name, payloadType, List.of());
    }
}
