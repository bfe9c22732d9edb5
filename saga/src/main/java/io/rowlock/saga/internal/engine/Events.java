package io.rowlock.saga.internal.engine;

import io.rowlock.saga.SagaOutcome;
import io.rowlock.saga.SagaOutcome.SagaCompensated;
import io.rowlock.saga.SagaOutcome.SagaCompensationFailed;
import io.rowlock.saga.SagaOutcome.SagaCompleted;
import io.rowlock.saga.SagaOutcome.SagaStuck;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What listeners are told of sagas. */
final class Events {
    private Events() {}

    /** Of one whose driver has ended. */
    static Optional<SagaOutcome> ofEnd(Instance<?> saga) {
        String id = saga.id();
        String name = saga.definition().name();
        int version = saga.definition().version();
        @Nullable String reason = saga.progress().reason();
        return switch (saga.status()) {
            case COMPLETED -> Optional.of(new SagaCompleted(id, name, version));
            case COMPENSATED -> Optional.of(new SagaCompensated(id, name, version, reason));
            case STUCK -> Optional.of(new SagaStuck(id, name, version, reason));
            case COMPENSATION_FAILED -> Optional.of(new SagaCompensationFailed(id, name, version, reason));
            case RUNNING, COMPENSATING, RESOLVED -> Optional.empty();
        };
    }
}
