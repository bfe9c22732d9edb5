package io.rowlock.testkit.postgres;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test class that needs PostgreSQL. It gets a {@link TestSchema} of its own on {@link TestPostgres#shared()}, made
 * before its first test and dropped after its last; all its tests, and those of its {@code @Nested} classes, share it.
 * Constructors, lifecycle methods and tests may take a {@link TestSchema}, a {@link TestPostgres} or a {@link
 * javax.sql.DataSource} as parameter.
 *
 * <pre>
 * &#64;PostgresTest
 * final class OrdersIT {
 *     &#64;Test
 *     void order_is_stored(TestSchema schema) throws Exception {
 *         schema.execute("CREATE TABLE orders (id bigint PRIMARY KEY)");
 *         ...
 *     }
 * }
 * </pre>
 *
 * <p>Test classes may run in parallel. Subclasses inherit the annotation and get a schema each.
 */
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(PostgresExtension.class)
public @interface PostgresTest {}
