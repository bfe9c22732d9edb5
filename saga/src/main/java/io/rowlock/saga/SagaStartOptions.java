package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What may be said of one saga when it is started. For one thread. */
public final class SagaStartOptions {
    private @Nullable String subject;

    /** Nothing said yet. */
    public SagaStartOptions() {}

    /**
     * Says whom or what the saga is about, so that people find it, and can have it redacted. Its jobs get the same subject.
     *
     * @param about 1 to 200 characters, such as {@code Customer:42}; by default the business key, of a child without one
     *     its parent's subject
     * @return this
     * @throws InvalidUseException if not allowed, or set twice
     */
    public SagaStartOptions subject(String about) {
        Names.refuse("The subject of a saga", about);
        if (subject != null) {
            throw new InvalidUseException("subject is set twice for one saga");
        }
        subject = about;
        return this;
    }

    /**
     * The subject, if one was set.
     *
     * @return the subject
     */
    public Optional<String> subject() {
        return Optional.ofNullable(subject);
    }
}
