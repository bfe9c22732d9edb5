package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.BeanSource;
import io.rowlock.jpa.internal.EntityJobs;
import org.hibernate.SessionFactory;
import org.hibernate.SessionFactoryObserver;
import org.hibernate.boot.Metadata;
import org.hibernate.boot.spi.BootstrapContext;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.event.service.spi.EventListenerRegistry;
import org.hibernate.event.spi.EventType;
import org.hibernate.integrator.spi.Integrator;
import org.hibernate.resource.beans.spi.ManagedBeanRegistry;
import org.hibernate.service.spi.SessionFactoryServiceRegistry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers Rowlock's listeners when a SessionFactory starts, those that its annotations need, and none for a unit
 * without annotated entities. Hibernate finds it by itself.
 */
public final class RowlockIntegrator implements Integrator {
    private static final Logger LOG = LoggerFactory.getLogger(RowlockIntegrator.class);

    /** Called by the service loader. */
    public RowlockIntegrator() {}

    /**
     * Reads the annotations and registers the listeners.
     *
     * @param metadata what was mapped
     * @param bootstrap not used
     * @param factory the SessionFactory being made
     * @throws InvalidUseException if an annotation or a setting is wrong: names every mistake
     */
    @Override
    public void integrate(Metadata metadata, BootstrapContext bootstrap, SessionFactoryImplementor factory) {
        EntityJobs jobs = EntityJobs.of(MappedEntities.of(metadata), beans(factory));
        UnitSettings settings = UnitSettings.of(factory.getProperties());
        if (!jobs.isEmpty()) {
            RowIds ids = new RowIds(factory, MappedEntities.rootNames(metadata));
            HibernateUnit unit = new HibernateUnit(jobs, settings, ids);
            factory.addObserver(new StartMessage(jobs, watch(unit, metadata, factory)));
            register(unit, factory.getEventEngine().getListenerRegistry());
        }
    }

    /** Listens for bulk statements, and says what becomes of them. */
    private static String watch(HibernateUnit unit, Metadata metadata, SessionFactoryImplementor factory) {
        String bulk = unit.settings().bulk();
        if (bulk.equals("allow")) {
            return "bulk statements on them make none and pass without a word, as rowlock.bulk=allow says";
        }
        if (factory.getJdbcServices() instanceof WatchedJdbcServices services) {
            services.watch();
            unit.watch(EntityTables.of(metadata, unit.jobs()));
            return "bulk statements on them make none and are "
                    + (bulk.equals("fail") ? "refused" : "warned of once for each entity and change");
        }
        if (bulk.equals("fail")) {
            throw new InvalidUseException("rowlock.bulk=fail cannot be kept: the application has replaced Hibernate's"
                    + " JdbcServices by " + factory.getJdbcServices().getClass().getName()
                    + ", so bulk statements are not seen; set rowlock.bulk=warn");
        }
        return "bulk statements on them make none and are not seen, as the application has replaced Hibernate's"
                + " JdbcServices by " + factory.getJdbcServices().getClass().getName();
    }

    /** Those of CDI or Spring, where Hibernate was told of them. */
    private static BeanSource beans(SessionFactoryImplementor factory) {
        return new BeanSource() {
            @Override
            public boolean hasContainer() {
                return registry().getBeanContainer() != null;
            }

            @Override
            public <B> B bean(Class<B> type) {
                return registry().getBean(type).getBeanInstance();
            }

            private ManagedBeanRegistry registry() {
                return factory.getServiceRegistry().requireService(ManagedBeanRegistry.class);
            }
        };
    }

    /** Said once the unit has started: a start that fails makes no jobs. */
    private record StartMessage(EntityJobs jobs, String bulk) implements SessionFactoryObserver {
        @Override
        public void sessionFactoryCreated(SessionFactory factory) {
            LOG.info(
                    "Changes of the entities {} make jobs; {} (unit={})",
                    jobs.entityNames(),
                    bulk,
                    factory.unwrap(SessionFactoryImplementor.class).getName());
        }
    }

    /*
     * Inserts and deletes are always heard of: an update of a row that the same flush inserted is no update, and a row
     * that the same flush inserts and deletes makes no job.
     */
    private static void register(HibernateUnit unit, EventListenerRegistry registry) {
        EntityChangeListener changes = new EntityChangeListener(unit);
        CollectionChangeListener collections = new CollectionChangeListener(unit);
        registry.appendListeners(EventType.POST_INSERT, changes);
        registry.appendListeners(EventType.POST_DELETE, changes);
        if (unit.jobs().about(Change.UPDATE)) {
            registry.appendListeners(EventType.POST_UPDATE, changes);
            registry.appendListeners(EventType.PRE_COLLECTION_RECREATE, collections);
            registry.appendListeners(EventType.PRE_COLLECTION_UPDATE, collections);
        }
        if (unit.jobs().about(Change.UPDATE) || unit.jobs().about(Change.REMOVE)) {
            registry.appendListeners(EventType.PRE_COLLECTION_REMOVE, collections);
        }
        if (unit.jobs().about(Change.UPDATE) || unit.jobs().about(Change.PERSIST)) {
            registry.appendListeners(EventType.POST_UPSERT, changes);
        }
        registerPending(unit, registry);
        FlushOpener opener = new FlushOpener(unit);
        FlushCloser closer = new FlushCloser(unit);
        registry.prependListeners(EventType.FLUSH, opener);
        registry.prependListeners(EventType.AUTO_FLUSH, opener);
        registry.appendListeners(EventType.FLUSH, closer);
        registry.appendListeners(EventType.AUTO_FLUSH, closer);
    }

    private static void registerPending(HibernateUnit unit, EventListenerRegistry registry) {
        PendingChangeListener pending = new PendingChangeListener(unit);
        if (unit.jobs().about(Change.PERSIST)) {
            registry.appendListeners(EventType.PRE_INSERT, pending);
        }
        if (unit.jobs().about(Change.UPDATE)) {
            registry.appendListeners(EventType.PRE_UPDATE, pending);
        }
        if (unit.jobs().about(Change.UPDATE) || unit.jobs().about(Change.PERSIST)) {
            registry.appendListeners(EventType.PRE_UPSERT, pending);
        }
        if (unit.jobs().about(Change.REMOVE)) {
            registry.appendListeners(EventType.PRE_DELETE, pending);
        }
    }

    /**
     * Does nothing: the listeners end with their SessionFactory.
     *
     * @param factory not used
     * @param registry not used
     */
    @Override
    public void disintegrate(SessionFactoryImplementor factory, SessionFactoryServiceRegistry registry) {}
}
