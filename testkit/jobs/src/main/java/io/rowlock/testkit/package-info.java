/**
 * For tests of applications that use Rowlock: a job for testing a handler alone, and assertions on jobs. A worker
 * cranked by hand comes from {@code Rowlock.handCrankedWorker}; a PostgreSQL from {@code rowlock-testkit-postgres}.
 */
@NullMarked
package io.rowlock.testkit;

import org.jspecify.annotations.NullMarked;
