package io.rowlock.checkup;

import io.rowlock.error.InvalidUseException;

/**
 * One thing that {@code rowlock.checkup()} found. Immutable.
 *
 * @param severity how much it weighs; the same for a code each time
 * @param code a stable name for scripts, such as {@code index-invalid}: never changed, never used for something else
 * @param seen what was seen, with names and numbers, in one sentence
 * @param matters why it matters
 * @param remedy what to type, mostly SQL for the owner of the tables; or what to do where there is nothing to type
 */
public record Finding(Severity severity, String code, String seen, String matters, String remedy) {
    /**
     * Checks that nothing is missing.
     *
     * @throws InvalidUseException if a part is null
     */
    public Finding {
        if (severity == null || code == null || seen == null || matters == null || remedy == null) {
            throw new InvalidUseException("A finding needs severity, code, what was seen, why it matters and a remedy");
        }
    }

    /** In one line: severity, code, what was seen. */
    @Override
    public String toString() {
        return severity + " " + code + ": " + seen;
    }
}
