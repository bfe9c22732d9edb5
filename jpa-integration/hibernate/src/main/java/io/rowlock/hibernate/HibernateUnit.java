package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent;
import io.rowlock.event.RowlockListener;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Outbox;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.ChangedEntity;
import io.rowlock.jpa.internal.EntityFacts;
import io.rowlock.jpa.internal.EntityJobs;
import io.rowlock.jpa.internal.EntityRules;
import io.rowlock.jpa.internal.PreparedJobs;
import io.rowlock.spi.PersistenceUnitBinding.Attachment;
import io.rowlock.spi.Waker;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.hibernate.StatelessSession;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.persister.entity.EntityPersister;
import org.jspecify.annotations.Nullable;

/**
 * Rowlock's part of one SessionFactory: collects the changes of a flush and writes their jobs when it ends, over the
 * session's own connection.
 */
final class HibernateUnit {
    /*
     * When is a change collected, and when is its job written at once?
     *
     * - FlushOpener stands before Hibernate's own flush listener, FlushCloser behind it. Between them, Hibernate raises
     *   the flag isFlushing() of the persistence context while it executes the actions, and lowers it in a finally. A
     *   change that is heard while the scope is open *and* the flag is up is collected; every other change is written
     *   at once. So nothing depends on the closer being reached: when the flush throws, the flag is down, what follows
     *   is written at once, and the leftovers are forgotten by the next opener or the end of the transaction, whichever
     *   is first. A listener chain that somebody replaced without ours opens no scope, and all is written at once.
     * - A flush inside a flush's actions (a callback that queries) keeps the scope and writes, at its end, all that was
     *   collected so far; it lowers the flag too, so the rest of the outer flush is written at once.
     * - A flush inside the writing (a payload method that queries) finds the scope closed and emptied, and opens it
     *   anew.
     */

    /** Bounds the payloads in memory at once, and the rows of a statement (promise P14). */
    private static final int CHUNK = 1_000;

    private final EntityJobs jobs;
    private final UnitSettings settings;
    private final RowIds ids;
    private final HiddenSessions hiddenSessions;
    private final SessionScopes scopes = new SessionScopes();
    private volatile Outbox outbox;
    private final List<Waker> wakers = new CopyOnWriteArrayList<>();
    private final List<RowlockListener> listeners = new CopyOnWriteArrayList<>();
    private volatile @Nullable BulkStatements bulk;
    private @Nullable String tables;

    HibernateUnit(EntityJobs jobs, UnitSettings settings, RowIds ids) {
        this.jobs = jobs;
        this.settings = settings;
        this.ids = ids;
        this.hiddenSessions = new HiddenSessions(settings);
        this.outbox = settings.outbox();
    }

    EntityJobs jobs() {
        return jobs;
    }

    UnitSettings settings() {
        return settings;
    }

    HiddenSessions hiddenSessions() {
        return hiddenSessions;
    }

    RowIds ids() {
        return ids;
    }

    /** @param old the row before, or null if that is not known */
    EntityFacts facts(EntityPersister persister, Object entity, Object id, RowState state, @Nullable RowState old) {
        return new HibernateFacts(ids, persister, entity, id, state, old, Map.of(), true);
    }

    /** A second Rowlock may share the unit where it looks for jobs in the same place; else one of the two gets none. */
    synchronized void attach(Attachment rowlock) {
        if (tables != null && !tables.equals(rowlock.tables())) {
            throw new InvalidUseException(
                    "The persistence unit writes its jobs into tables " + tables + "* already, for"
                            + " another Rowlock; one with tables " + rowlock.tables()
                            + "* would take them away from its workers."
                            + " Give both the same schema and prefix, or each a unit of its own");
        }
        tables = rowlock.tables();
        outbox = rowlock.outbox();
        wakers.add(rowlock.waker());
        listeners.add(rowlock.listener());
    }

    /** From now on, bulk statements on these tables are heard of. */
    void watch(EntityTables entityTables) {
        bulk = new BulkStatements(this, entityTables);
    }

    void bulkStatement(SharedSessionContractImplementor session, String sql) {
        BulkStatements watching = bulk;
        if (watching != null) {
            watching.met(session, sql);
        }
    }

    void tell(RowlockEvent event) {
        listeners.forEach(listener -> listener.on(event));
    }

    private void wake(Collection<Enqueued> committed) {
        wakers.forEach(waker -> waker.wake(committed));
    }

    void flushBegins(SharedSessionContractImplementor session) {
        SessionScope scope = scopes.of(session);
        if (!scope.isFlushing() || !executesActions(session)) {
            scope.begin();
        }
    }

    /**
     * A row is about to be written whose change may make jobs.
     *
     * @param session null if Hibernate hides it
     * @throws InvalidUseException if they could not be written
     */
    void requireJob(@Nullable SharedSessionContractImplementor session, EntityRules rules, Change change) {
        if (session == null) {
            hiddenSessions.met(rules.entityName());
        } else if (!session.isTransactionInProgress() && wanted(session, rules, change)) {
            throw outsideTransaction(rules.entityName());
        }
    }

    private boolean wanted(SharedSessionContractImplementor session, EntityRules rules, Change change) {
        return !rules.kinds(change).stream().allMatch(suppressions(session)::covers);
    }

    /** A row is about to be deleted; what it holds is asked for when that is done. */
    void willDelete(SharedSessionContractImplementor session, Object entity, @Nullable Object[] values) {
        scopes.of(session).willDelete(entity, values);
    }

    /** What a row held that was deleted, or null if that is not known. */
    @Nullable
    Object @Nullable [] deletedState(SharedSessionContractImplementor session, Object entity) {
        return scopes.of(session).deletedState(entity);
    }

    void changed(SharedSessionContractImplementor session, ChangedEntity change) {
        SessionScope scope = scopes.of(session);
        scope.watch(session);
        if (collects(session, scope)) {
            scope.add(change);
        } else {
            write(session, scope, List.of(change));
            if (!(session instanceof StatelessSession)) { // has no flush that writes more of it
                scope.wroteAtOnce(change);
            }
        }
    }

    /** Whether a change that is heard of now is part of a flush. */
    boolean collects(SharedSessionContractImplementor session) {
        return collects(session, scopes.of(session));
    }

    private static boolean collects(SharedSessionContractImplementor session, SessionScope scope) {
        return scope.isFlushing() && executesActions(session);
    }

    /** Whether the row of an entity was inserted before the flush that now writes its first collections. */
    boolean wasInsertedBefore(SharedSessionContractImplementor session, Object entity) {
        return scopes.of(session).insertedAtOnce(entity);
    }

    Suppressions suppressions(SharedSessionContractImplementor session) {
        return scopes.of(session).suppressions();
    }

    /** @param flushed whether anything was flushed, or Hibernate left that for later */
    void flushEnds(SharedSessionContractImplementor session, boolean flushed) {
        SessionScope scope = scopes.of(session);
        List<ChangedEntity> changes = scope.end(flushed);
        for (int from = 0; from < changes.size(); from += CHUNK) {
            write(session, scope, changes.subList(from, Math.min(changes.size(), from + CHUNK)));
        }
    }

    private static boolean executesActions(SharedSessionContractImplementor session) {
        return session.getPersistenceContextInternal().isFlushing();
    }

    private void write(SharedSessionContractImplementor session, SessionScope scope, List<ChangedEntity> changes) {
        try {
            scope.enterWrite();
            PreparedJobs prepared = PreparedJobs.of(changes, scope.suppressions()::wants);
            if (!prepared.isEmpty()) {
                requireTransaction(session, changes.get(0));
                List<Enqueued> written = session.doReturningWork(connection -> prepared.write(outbox, connection));
                scope.wrote(written, this::wake);
            }
        } catch (RuntimeException | Error e) {
            // Whoever swallows the exception must still not commit the change without its job.
            session.markForRollbackOnly();
            throw e;
        } finally {
            scope.leaveWrite();
        }
    }

    private static void requireTransaction(SharedSessionContractImplementor session, ChangedEntity change) {
        if (!session.isTransactionInProgress()) {
            throw outsideTransaction(change.rules().entityName());
        }
    }

    private static InvalidUseException outsideTransaction(String entity) {
        return new InvalidUseException("The annotated entity " + entity + " was to be written outside a transaction, so"
                + " its job could not commit with it; begin a transaction first");
    }
}
