package io.rowlock.idempotency;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.error.DatabaseException;
import io.rowlock.error.IdempotencyRefusedException.Reason;
import io.rowlock.error.InvalidUseException;
import io.rowlock.job.By;
import java.util.List;

/**
 * The answers that {@link IdempotencyKeys} have stored, for people and their tools: what a client was told, and taking that out when a
 * person asks to be forgotten. Each call says who does it, and why, which is kept in {@code rowlock_operation}; the access
 * policy of the application is asked before any statement. Each uses connections of the data source, and blocks until the database has
 * answered. Safe for use by many threads.
 */
public interface Answers {
    /**
     * What was answered under a key. Kept as {@code read} in the transaction that reads it, whether there is something or not.
     *
     * @param principal who asked, as the application said
     * @param key the client's key
     * @param by who reads it, and why
     * @return one for each method and path, at most 1,000; expired ones too, until they are deleted
     * @throws InvalidUseException if the principal is not allowed, or something is null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    List<StoredAnswer> find(String principal, IdempotencyKey key, By by);

    /**
     * Takes the answers under a key out. The row stays, without answer and fingerprint, or a repetition would be done again: it is refused
     * with {@link Reason#ANSWER_REDACTED} until the key expires. Key, principal, method and path stay so long too. Transactions of
     * at most 500 rows, each with a row that says who did it, and why; what a crash leaves is done by the same call.
     *
     * @param principal who asked, as the application said
     * @param key the client's key
     * @param by who does it, and why
     * @return how many were taken out now; an expired one that another transaction is just replacing is left to it
     * @throws InvalidUseException if the principal is not allowed, or something is null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    long redact(String principal, IdempotencyKey key, By by);

    /**
     * The same for all keys of a principal. No index leads to them, as each request would pay for it: reads the table, 1,000 rows a
     * statement. What is stored while that goes on may be missed: call it again, when nothing of the principal is done any more.
     *
     * @param principal whose
     * @param by who does it, and why
     * @return how many were taken out now
     * @throws InvalidUseException if the principal is not allowed, or something is null
     * @throws AccessRefusedException if the access policy refused it
     * @throws DatabaseException if the server refused it
     */
    long redact(String principal, By by);
}
