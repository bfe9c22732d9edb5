package io.rowlock.testkit.postgres;

import java.sql.SQLException;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * What is behind {@link PostgresTest}: one {@link TestSchema} for each outermost test class, made before all its tests
 * (or, where the extension is registered in an instance field, at the first use), dropped with {@code CASCADE} after
 * all of them. Resolves parameters of the types {@link TestSchema}, {@link TestPostgres} and {@link DataSource}.
 *
 * <p>With a server of one's own, register it in a static field below that of the server:
 *
 * <pre>
 * static final OwnPostgres SERVER = TestPostgres.embedded(PostgresOptions::durable);
 *
 * &#64;RegisterExtension
 * static final PostgresExtension POSTGRES = PostgresExtension.on(() -&gt; SERVER);
 * </pre>
 *
 * <p>Needs JUnit 5.13 or later. Without state of its own, so safe for tests that run in parallel.
 */
public final class PostgresExtension implements BeforeAllCallback, ParameterResolver {

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(PostgresExtension.class);

    private final Supplier<TestPostgres> server;

    /** Schemas on the shared server, which is started at the first use. */
    public PostgresExtension() {
        this(TestPostgres::shared);
    }

    private PostgresExtension(Supplier<TestPostgres> server) {
        this.server = server;
    }

    /**
     * Schemas on another server.
     *
     * @param server asked once for each test class, before its first test; it stays the caller's to close, after the
     *     schema is dropped
     * @return a new extension for a field with {@code @RegisterExtension}
     */
    public static PostgresExtension on(Supplier<TestPostgres> server) {
        return new PostgresExtension(server);
    }

    /**
     * Makes the schema of the test class.
     *
     * @param context of the class, or of a nested one
     */
    @Override
    public void beforeAll(ExtensionContext context) {
        schema(context);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == TestSchema.class || type == TestPostgres.class || type == DataSource.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestSchema schema = schema(context);
        Class<?> type = parameter.getParameter().getType();
        if (type == TestSchema.class) {
            return schema;
        }
        return type == DataSource.class ? schema.dataSource() : schema.server();
    }

    /** The store of the outermost class owns it, and closes it when that class is done. */
    private TestSchema schema(ExtensionContext context) {
        ExtensionContext outermost = outermost(context);
        return outermost
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(TestSchema.class, key -> create(outermost), TestSchema.class);
    }

    private TestSchema create(ExtensionContext context) {
        try {
            return TestSchema.create(
                    server.get(), context.getRequiredTestClass().getSimpleName());
        } catch (SQLException e) {
            throw new ParameterResolutionException(
                    "No schema could be made for " + context.getDisplayName() + ": " + e.getMessage(), e);
        }
    }

    private static ExtensionContext outermost(ExtensionContext context) {
        ExtensionContext outermost = context;
        for (ExtensionContext each = context;
                each.getTestClass().isPresent();
                each = each.getParent().orElseThrow()) {
            outermost = each;
        }
        return outermost;
    }
}
