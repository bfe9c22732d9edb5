package io.rowlock.hibernate;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.hibernate.dialect.Dialect;
import org.hibernate.engine.jdbc.LobCreationContext;
import org.hibernate.engine.jdbc.LobCreator;
import org.hibernate.engine.jdbc.connections.spi.JdbcConnectionAccess;
import org.hibernate.engine.jdbc.env.spi.ExtractedDatabaseMetaData;
import org.hibernate.engine.jdbc.env.spi.JdbcEnvironment;
import org.hibernate.engine.jdbc.spi.JdbcServices;
import org.hibernate.engine.jdbc.spi.SqlExceptionHelper;
import org.hibernate.engine.jdbc.spi.SqlStatementLogger;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.service.spi.Configurable;
import org.hibernate.service.spi.ServiceRegistryAwareService;
import org.hibernate.service.spi.ServiceRegistryImplementor;
import org.hibernate.sql.ast.spi.ParameterMarkerStrategy;
import org.hibernate.sql.exec.spi.ExecutionContext;
import org.hibernate.sql.exec.spi.JdbcMutationExecutor;
import org.hibernate.sql.exec.spi.JdbcOperation;
import org.hibernate.sql.exec.spi.JdbcSelectExecutor;

/**
 * Hibernate's door to JDBC, or the application's own one, with an ear at the two executors that run HQL, Criteria and
 * native statements. What flushes write does not pass them. Until a unit with annotated entities starts, nothing is heard.
 */
final class WatchedJdbcServices implements JdbcServices, ServiceRegistryAwareService, Configurable {
    private static final long serialVersionUID = 1L;

    private final transient JdbcServices services;
    private transient volatile boolean watching;

    WatchedJdbcServices(JdbcServices services) {
        this.services = services;
    }

    void watch() {
        watching = true;
    }

    @Override
    public JdbcMutationExecutor getJdbcMutationExecutor() {
        JdbcMutationExecutor executor = services.getJdbcMutationExecutor();
        if (!watching) {
            return executor;
        }
        return (mutation, bindings, statements, check, context) -> {
            met(context.getSession(), mutation.getSqlString());
            return executor.execute(mutation, bindings, statements, check, context);
        };
    }

    /**
     * On PostgreSQL, statements on several tables of an inheritance are queries with common table expressions that change
     * rows. A proxy, because the types of this interface's parameters changed with Hibernate 7.
     */
    @Override
    public JdbcSelectExecutor getJdbcSelectExecutor() {
        JdbcSelectExecutor executor = services.getJdbcSelectExecutor();
        if (!watching) {
            return executor;
        }
        return (JdbcSelectExecutor) Proxy.newProxyInstance(
                JdbcSelectExecutor.class.getClassLoader(),
                new Class<?>[] {JdbcSelectExecutor.class},
                (proxy, method, arguments) -> select(executor, method, arguments));
    }

    private static Object select(JdbcSelectExecutor executor, Method method, Object[] arguments) throws Throwable {
        if (arguments != null && arguments.length > 0 && arguments[0] instanceof JdbcOperation query) {
            String sql = query.getSqlString();
            if (TouchedTable.mayBeIn(sql)) {
                for (Object argument : arguments) {
                    if (argument instanceof ExecutionContext context) {
                        met(context.getSession(), sql);
                    }
                }
            }
        }
        try {
            return method.invoke(executor, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void met(SharedSessionContractImplementor session, String sql) {
        HibernateUnit unit = Factories.unit(session.getFactory());
        if (unit != null) {
            unit.bulkStatement(session, sql);
        }
    }

    @Override
    public void injectServices(ServiceRegistryImplementor registry) {
        if (services instanceof ServiceRegistryAwareService aware) {
            aware.injectServices(registry);
        }
    }

    @Override
    public void configure(Map<String, Object> settings) {
        if (services instanceof Configurable configurable) {
            configurable.configure(settings);
        }
    }

    @Override
    public JdbcEnvironment getJdbcEnvironment() {
        return services.getJdbcEnvironment();
    }

    @Override
    public JdbcConnectionAccess getBootstrapJdbcConnectionAccess() {
        return services.getBootstrapJdbcConnectionAccess();
    }

    @Override
    public Dialect getDialect() {
        return services.getDialect();
    }

    @Override
    public SqlStatementLogger getSqlStatementLogger() {
        return services.getSqlStatementLogger();
    }

    @Override
    public ParameterMarkerStrategy getParameterMarkerStrategy() {
        return services.getParameterMarkerStrategy();
    }

    @Override
    public SqlExceptionHelper getSqlExceptionHelper() {
        return services.getSqlExceptionHelper();
    }

    @Override
    public ExtractedDatabaseMetaData getExtractedMetaDataSupport() {
        return services.getExtractedMetaDataSupport();
    }

    @Override
    public LobCreator getLobCreator(LobCreationContext context) {
        return services.getLobCreator(context);
    }
}
