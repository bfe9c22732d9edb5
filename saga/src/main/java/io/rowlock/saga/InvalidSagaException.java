package io.rowlock.saga;

import io.rowlock.error.RowlockException;
import java.util.List;

/** The definition of a saga has mistakes. {@link #mistakes()} names all of them; nothing was registered or written. */
public final class InvalidSagaException extends RowlockException {
    private static final long serialVersionUID = 1L;

    private final String saga;

    @SuppressWarnings("serial") // List.copyOf gives a serialisable list
    private final List<String> mistakes;

    InvalidSagaException(String saga, List<String> mistakes) {
        super("Saga \"" + saga + "\" cannot be built; put right: " + String.join("; ", mistakes));
        this.saga = saga;
        this.mistakes = List.copyOf(mistakes);
    }

    /**
     * The saga's name, as its definition gives it, allowed or not.
     *
     * @return the name
     */
    public String saga() {
        return saga;
    }

    /**
     * Each mistake in words: where it is, what is wrong, what to do.
     *
     * @return an unmodifiable list in the order of the definition, never empty
     */
    public List<String> mistakes() {
        return mistakes;
    }
}
