package io.rowlock.alert;

import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An alert's row as it was read: what happened for one cause and kind within an hour. All times are the database's.
 *
 * @param id the id
 * @param cause the column's text; that of an {@link AlertCause}, unless a newer version wrote the row
 * @param kind what it happened to: a kind of job; the name of a saga's definition, of a schedule, of a worker; or what pins
 *     a snapshot
 * @param count how often it happened; of what lasts, such as a lag, how often that was seen
 * @param reason why it happened last, cut at 2,000 characters
 * @param job the last job it happened to, or null if it was none
 * @param span when it happened
 * @param acknowledged who took it over, or null: it is open
 */
public record Alert(
        long id,
        String cause,
        String kind,
        long count,
        String reason,
        @Nullable Long job,
        Span span,
        @Nullable Acknowledgement acknowledged) {

    /**
     * The cause, where this version knows it.
     *
     * @return empty for a row that a newer version wrote
     */
    public Optional<AlertCause> knownCause() {
        return AlertCause.of(cause);
    }

    /**
     * When it happened.
     *
     * @param first first
     * @param last last
     */
    public record Span(Instant first, Instant last) {}

    /**
     * Who took an alert over.
     *
     * @param at when
     * @param who the person or tool
     * @param why what was said, or null if somebody's SQL said nothing
     */
    public record Acknowledgement(
            Instant at, String who, @Nullable String why) {}
}
