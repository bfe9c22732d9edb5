package io.rowlock.saga;

/**
 * The beginning of a definition: {@code saga.named("order-fulfilment", State.class).version(1)}. For one thread.
 *
 * <p>Nothing of the chain throws for a wrong value: {@link SagaSteps#build()} names all mistakes at once. Values made
 * outside the chain ({@link io.rowlock.job.RetryPolicy}, {@link SagaSignal}, {@link SagaType}) check themselves.
 *
 * @param <S> the saga's state
 */
public final class SagaBuilder<S> {
    /** Makes an empty builder. */
    public SagaBuilder() {}

    /**
     * Names the saga, and the class of its state.
     *
     * @param name the stable name that rows store, such as {@code order-fulfilment}: 1 to 200 characters, not blank, no
     *     control characters
     * @param stateType the class the state is read back as; it is never stored (promise P13)
     * @return the next part of the chain
     */
    public Named<S> named(String name, Class<S> stateType) {
        return new Named<>(new SagaDraft<>(name, stateType));
    }

    /**
     * A saga with a name, that wants a version. For one thread.
     *
     * @param <S> the saga's state
     */
    public static final class Named<S> {
        private final SagaDraft<S> draft;

        private Named(SagaDraft<S> draft) {
            this.draft = draft;
        }

        /**
         * Numbers the definition. A running saga stays on the version it began with; new ones begin with the highest
         * registered. Raise it when steps are added, removed, moved or change their meaning.
         *
         * @param version 1 to 1,000,000
         * @return the next part of the chain
         */
        public SagaStart<S> version(int version) {
            draft.version(version);
            return new SagaStart<>(draft);
        }
    }
}
