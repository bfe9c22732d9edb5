package io.rowlock.spi;

/**
 * Turns payloads into JSON text and back. Called by many threads at once. The text is stored as the column type
 * {@code json}, so it must be valid JSON; a NUL and halves of surrogate pairs must be escaped. An old node must be able
 * to read what a newer one wrote: ignore what is unknown. Never let the text choose a class (promise P13).
 */
public interface PayloadCodec {
    /**
     * Writes a payload.
     *
     * @param payload the payload, never null
     * @return JSON text
     * @throws Exception if it cannot be written; the enqueue is refused before any SQL
     */
    String encode(Object payload) throws Exception;

    /**
     * Reads a payload.
     *
     * @param json the text of the row
     * @param type the type registered for the row's kind
     * @param <T> that type
     * @return the payload
     * @throws Exception if it cannot be read; that job's attempt fails, no other's
     */
    <T> T decode(String json, Class<T> type) throws Exception;
}
