package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Enqueued;
import io.rowlock.jpa.Suppression;
import io.rowlock.jpa.spi.ConnectionAccess;
import io.rowlock.spi.Waker;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.Collection;
import java.util.Set;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.jspecify.annotations.Nullable;

/** The connection and the transaction behind Hibernate's EntityManager. */
public final class HibernateConnectionAccess implements ConnectionAccess {
    private final SessionScopes scopes = new SessionScopes();

    /** Called by the service loader. */
    public HibernateConnectionAccess() {}

    @Override
    public boolean accepts(EntityManagerFactory factory) {
        return Factories.unwrap(factory) != null;
    }

    @Override
    public boolean inTransaction(EntityManager entityManager) {
        return session(entityManager).isTransactionInProgress();
    }

    @Override
    public <T> T call(EntityManager entityManager, ConnectionCall<T> call) throws Exception {
        Outcome<T> outcome = session(entityManager).doReturningWork(connection -> {
            try {
                return new Outcome<>(call.on(connection), null);
            } catch (Exception e) {
                return new Outcome<>(null, e);
            }
        });
        return outcome.get();
    }

    /** Carries a checked exception past Hibernate, which would turn an SQLException into one of its own. */
    private record Outcome<T>(@Nullable T answer, @Nullable Exception thrown) {
        @SuppressWarnings("NullAway") // without an exception there is an answer, null only if T allows it
        T get() throws Exception {
            if (thrown != null) {
                throw thrown;
            }
            return answer;
        }
    }

    @Override
    public void wakeAfterCommit(EntityManager entityManager, Collection<Enqueued> written, Waker waker) {
        SharedSessionContractImplementor session = session(entityManager);
        SessionScope scope = scopes.of(session);
        scope.watch(session);
        scope.wrote(written, waker);
    }

    @Override
    public boolean acceptsSession(AutoCloseable session) {
        return session instanceof SharedSessionContractImplementor
                || (session instanceof EntityManager entityManager && accepts(entityManager.getEntityManagerFactory()));
    }

    @Override
    public Suppression suppress(AutoCloseable session, String reason, Set<String> kinds) {
        SharedSessionContractImplementor own = session instanceof SharedSessionContractImplementor stateless
                ? stateless
                : session((EntityManager) session);
        HibernateUnit unit = Factories.unit(own.getFactory());
        if (unit == null) {
            throw new InvalidUseException("No entity of the unit makes jobs: there is nothing to suppress");
        }
        return SessionSuppression.open(unit, own, reason, kinds);
    }

    private static SharedSessionContractImplementor session(EntityManager entityManager) {
        return entityManager.unwrap(SharedSessionContractImplementor.class);
    }
}
