package io.rowlock.error;

import java.util.List;

/**
 * Rowlock's tables are missing, older than this version of Rowlock, or differ from what it needs. {@link #problems()}
 * names each difference; nothing was changed.
 */
public final class SchemaException extends RowlockException {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // List.copyOf gives a serialisable list
    private final List<String> problems;

    /**
     * Makes the exception.
     *
     * @param message where was looked, and what to do
     * @param problems each difference in words
     */
    public SchemaException(String message, List<String> problems) {
        super(message + ": " + String.join("; ", problems));
        this.problems = List.copyOf(problems);
    }

    /**
     * Each difference in words.
     *
     * @return an unmodifiable list, never empty
     */
    public List<String> problems() {
        return problems;
    }
}
