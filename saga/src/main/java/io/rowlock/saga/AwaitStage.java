package io.rowlock.saga;

import java.time.Duration;

/**
 * A wait for a signal that wants its limit: no saga waits for ever unseen. For one thread.
 *
 * @param <S> the saga's state
 */
public final class AwaitStage<S> {
    private final Line<S> line;
    private final AwaitDraft<S, ?> await;

    AwaitStage(Line<S> line, AwaitDraft<S, ?> await) {
        this.line = line;
        this.await = await;
    }

    /**
     * Limits the wait, by the database's clock, from when the saga begins to wait.
     *
     * @param longest 1 ms to 100 years
     * @return what wants to know what happens then
     */
    public Within<S> within(Duration longest) {
        await.within(longest);
        return new Within<>(line, await);
    }

    /**
     * A limited wait that wants to know what happens when its time is over. For one thread.
     *
     * @param <S> the saga's state
     */
    public static final class Within<S> {
        private final Line<S> line;
        private final AwaitDraft<S, ?> await;

        private Within(Line<S> line, AwaitDraft<S, ?> await) {
            this.line = line;
            this.await = await;
        }

        /**
         * Says what happens when the signal did not come in time.
         *
         * @param escalation {@link Escalation#escalate()}, {@link Escalation#fail()} or {@link
         *     Escalation#continueWith}
         * @return the chain
         */
        public SagaSteps<S> otherwise(Escalation<S> escalation) {
            await.otherwise(escalation);
            return new SagaSteps<>(line);
        }
    }
}
