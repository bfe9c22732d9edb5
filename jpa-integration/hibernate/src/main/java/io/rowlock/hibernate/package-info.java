/**
 * Hibernate's side of {@link io.rowlock.jpa.OutboxJob}. {@code RowlockIntegrator} registers listeners when a
 * SessionFactory starts; {@code EntityChangeListener} hears of changes; {@code HibernateUnit} collects those of a flush
 * and writes their jobs when it ends. Nothing here links what changed between Hibernate 6.6 and 7.4.
 */
@NullMarked
package io.rowlock.hibernate;

import org.jspecify.annotations.NullMarked;
