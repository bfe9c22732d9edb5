package io.rowlock.hibernate;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hibernate.boot.registry.StandardServiceInitiator;
import org.hibernate.boot.registry.StandardServiceRegistryBuilder;
import org.hibernate.engine.jdbc.internal.JdbcServicesImpl;
import org.hibernate.engine.jdbc.spi.JdbcServices;
import org.hibernate.service.spi.ServiceContributor;
import org.hibernate.service.spi.ServiceRegistryImplementor;
import org.hibernate.sql.exec.spi.JdbcMutationExecutor;

/** An application's own services around Hibernate's statements, in units that ask for them. */
public final class OwnServices implements ServiceContributor {
    /** The unit's property: {@code before} or {@code after} Rowlock's. */
    static final String PROPERTY = "test.own-services";

    @Override
    public void contribute(StandardServiceRegistryBuilder builder) {
        Object own = builder.getSettings().get(PROPERTY);
        if (own != null) {
            builder.addInitiator(new Initiator());
        }
        if ("after".equals(own)) {
            keepLast(builder);
        }
    }

    /** What a contributor that comes later would do; the order of contributors is that of the class path. */
    private static void keepLast(StandardServiceRegistryBuilder builder) {
        try {
            Field field = StandardServiceRegistryBuilder.class.getDeclaredField("initiators");
            field.setAccessible(true);
            List<?> initiators = (List<?>) field.get(builder);
            field.set(builder, new ArrayList<Object>(initiators) {
                private static final long serialVersionUID = 1L;

                @Override
                public boolean add(Object later) {
                    super.add(size() - 1, later);
                    return true;
                }
            });
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static final class Own extends JdbcServicesImpl {
        private static final long serialVersionUID = 1L;

        static int mutations;

        @Override
        public JdbcMutationExecutor getJdbcMutationExecutor() {
            mutations++;
            return super.getJdbcMutationExecutor();
        }
    }

    private static final class Initiator implements StandardServiceInitiator<JdbcServices> {
        @Override
        public Class<JdbcServices> getServiceInitiated() {
            return JdbcServices.class;
        }

        @Override
        public JdbcServices initiateService(Map<String, Object> settings, ServiceRegistryImplementor registry) {
            return new Own();
        }
    }
}
