package io.rowlock.spi;

import io.rowlock.job.JobContext;

/**
 * Goes around each attempt, for what a handler is to find and to leave behind: a trace, a request context, the tenant's
 * settings. Called on the handler's thread, for leased and transactional handlers alike, many at once. Set by
 * {@code Rowlock.builder().interceptor(...)}; of several the one that was added first is outermost.
 *
 * <p>Inside are the reading of the payload, the handler, and, of a transactional one, the whole of its transaction with the
 * commit. The attempt succeeds if the handler and every interceptor return; what an interceptor throws, before or after, fails
 * it as if the handler had thrown it, and it is tried again by its policy. Where a transaction has completed the job already, it
 * stays completed.
 */
@FunctionalInterface
public interface HandlerInterceptor {
    /**
     * Does something before and after an attempt.
     *
     * @param job the job and its lease, as its handler sees it
     * @param handler the rest: further interceptors, and the handler. To be called exactly once, on this thread; where that does
     *     not happen, the attempt fails with an {@link io.rowlock.error.InvalidUseException}
     * @throws Exception what the handler threw should go on as it is. If it is swallowed the attempt has failed all the same
     */
    void around(JobContext job, Invocation handler) throws Exception;

    /** What an interceptor goes around. */
    @FunctionalInterface
    interface Invocation {
        /**
         * Goes on.
         *
         * @throws Exception whatever the handler threw, or an interceptor further inside
         */
        void proceed() throws Exception;
    }
}
