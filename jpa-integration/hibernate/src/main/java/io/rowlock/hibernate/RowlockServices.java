package io.rowlock.hibernate;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import org.hibernate.boot.registry.StandardServiceInitiator;
import org.hibernate.boot.registry.StandardServiceRegistryBuilder;
import org.hibernate.engine.jdbc.internal.JdbcServicesInitiator;
import org.hibernate.engine.jdbc.spi.JdbcServices;
import org.hibernate.service.spi.ServiceContributor;
import org.hibernate.service.spi.ServiceRegistryImplementor;

/**
 * Puts {@link WatchedJdbcServices} around the service that Hibernate runs statements through. Hibernate finds it by
 * itself, before it reads any mapping.
 */
public final class RowlockServices implements ServiceContributor {
    /** Called by the service loader. */
    public RowlockServices() {}

    /**
     * Adds the service.
     *
     * @param builder of the registry
     */
    @Override
    public void contribute(StandardServiceRegistryBuilder builder) {
        StandardServiceInitiator<?> before = before(builder);
        if (!(before instanceof Watched)) {
            builder.addInitiator(new Watched(before));
        }
    }

    /*
     * The last initiator wins, so an application's own that came before ours would be lost. The builder does not tell its
     * initiators; where its field cannot be read, as on a module path, Hibernate's own is taken. One that comes after ours
     * wins, and so does a finished service: then start-up says that bulk statements are not seen.
     */
    private static StandardServiceInitiator<?> before(StandardServiceRegistryBuilder builder) {
        StandardServiceInitiator<?> found = JdbcServicesInitiator.INSTANCE;
        try {
            Field field = StandardServiceRegistryBuilder.class.getDeclaredField("initiators");
            field.setAccessible(true);
            for (Object each : (List<?>) field.get(builder)) {
                if (each instanceof StandardServiceInitiator<?> initiator
                        && initiator.getServiceInitiated() == JdbcServices.class) {
                    found = initiator;
                }
            }
        } catch (ReflectiveOperationException | RuntimeException notTold) {
            return found;
        }
        return found;
    }

    private record Watched(StandardServiceInitiator<?> before) implements StandardServiceInitiator<JdbcServices> {
        @Override
        public Class<JdbcServices> getServiceInitiated() {
            return JdbcServices.class;
        }

        @Override
        public JdbcServices initiateService(Map<String, Object> settings, ServiceRegistryImplementor registry) {
            return new WatchedJdbcServices((JdbcServices) before.initiateService(settings, registry));
        }
    }
}
