package io.rowlock.saga.internal.engine;

import io.rowlock.error.InvalidUseException;
import io.rowlock.saga.StepContext;
import io.rowlock.saga.internal.sql.SagaRow;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** What a step, or a compensation, is told. */
final class Context implements StepContext {
    private final Instance<?> saga;
    private final SagaRow row;
    private final @Nullable Instant deadline;
    private final Running running;
    private final Surroundings around;

    /** What runs: which attempt of which step, or of its compensation. */
    record Running(String step, int attempt, boolean compensation) {}

    /** What it runs in. */
    record Surroundings(String installation, Map<String, String> headers, BooleanSupplier cancelled) {}

    Context(Instance<?> saga, Running running, Surroundings around) {
        this.saga = saga;
        this.row = saga.row();
        this.deadline = row.wishes().deadline();
        this.running = running;
        this.around = around;
    }

    @Override
    public String sagaId() {
        return row.id();
    }

    @Override
    public String saga() {
        return row.origin().name();
    }

    @Override
    public int version() {
        return row.origin().version();
    }

    @Override
    public Optional<String> businessKey() {
        return Optional.ofNullable(row.origin().businessKey());
    }

    @Override
    public String step() {
        return running.step();
    }

    @Override
    public int attempt() {
        return running.attempt();
    }

    @Override
    public String key() {
        return SagaKeys.step(around.installation(), row.id(), running.step(), running.compensation());
    }

    @Override
    public String key(String step) {
        if (step == null || saga.definition().node(step).isEmpty()) {
            throw new InvalidUseException("Saga " + saga() + " version " + version() + " has no step " + step);
        }
        return SagaKeys.step(around.installation(), saga.doneBy(step), step, false);
    }

    @Override
    public Optional<Instant> deadline() {
        return Optional.ofNullable(deadline);
    }

    @Override
    public Map<String, String> headers() {
        return around.headers();
    }

    @Override
    public boolean cancelled() {
        return around.cancelled().getAsBoolean();
    }
}
