/**
 * Jobs from changes of entities ({@link io.rowlock.jpa.OutboxJob}), jobs written by hand through an EntityManager
 * ({@link io.rowlock.jpa.JpaOutbox}), and handlers that work through one ({@link io.rowlock.jpa.JpaTransactions}).
 */
@NullMarked
package io.rowlock.jpa;

import org.jspecify.annotations.NullMarked;
