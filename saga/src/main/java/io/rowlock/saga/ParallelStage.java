package io.rowlock.saga;

/**
 * Parallel branches that want a join. For one thread.
 *
 * @param <S> the saga's state
 */
public final class ParallelStage<S> {
    private final Line<S> line;
    private final ParallelDraft<S> parallel;

    ParallelStage(Line<S> line, ParallelDraft<S> parallel) {
        this.line = line;
        this.parallel = parallel;
    }

    /**
     * Says how one state is made of what the branches ended with.
     *
     * @param join makes the state to record
     * @return the chain
     */
    public SagaSteps<S> join(BranchJoin<S> join) {
        parallel.join(join);
        return new SagaSteps<>(line);
    }
}
