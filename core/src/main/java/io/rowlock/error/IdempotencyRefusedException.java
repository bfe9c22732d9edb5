package io.rowlock.error;

/**
 * A request under an idempotency key is not done: its key is malformed, it is being done at this moment by another transaction, or
 * its key was used for another request, or its answer is not there any more. Nothing of it was done or written, and the caller's transaction goes on as it was. {@link
 * #reason()} says which, and with which HTTP status to answer.
 */
public final class IdempotencyRefusedException extends RowlockException {
    private static final long serialVersionUID = 1L;
    private final Reason reason;

    /** Why a request is not done. */
    public enum Reason {
        /** The key is missing, too long, or no printable ASCII: the client has to mend it. */
        MALFORMED_KEY(400),
        /** Another transaction is doing it: the client may ask again a little later, with the same key. */
        IN_PROGRESS(409),
        /** The key stands for another request: the client has to take a new one. */
        DIFFERENT_REQUEST(422),
        /** It was done, and a person has had its answer taken out: the client must not ask again, nor do it under a new key. */
        ANSWER_REDACTED(410);

        private final int status;

        Reason(int status) {
            this.status = status;
        }

        /**
         * The HTTP status that draft-ietf-httpapi-idempotency-key-header-07 gives for it under "Error Scenarios"; for
         * what it does not know, of RFC 9110.
         *
         * @return 400, 409, 410 or 422
         */
        public int status() {
            return status;
        }
    }

    /**
     * Makes the exception.
     *
     * @param reason why
     * @param message the same for people, with what to do
     */
    public IdempotencyRefusedException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /**
     * Why the request is not done.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }
}
