package io.rowlock.idempotency;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a request was answered, as its row was read.
 *
 * @param method what was asked for
 * @param path where
 * @param answer the answer, as JSON of Rowlock's payload codec; null: it was taken out
 * @param answeredAt when, by the database's clock
 * @param expiresAt from when on the key is free again; may be past, while the row is there
 */
public record StoredAnswer(
        String method, String path, @Nullable String answer, Instant answeredAt, Instant expiresAt) {}
