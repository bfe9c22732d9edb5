/**
 * What work costs a PostgreSQL, as counts that are the same in every run, and budgets that a build keeps to.
 *
 * <ul>
 *   <li>{@link io.rowlock.testkit.cost.CostServer} — a server on which nothing else happens, behind a proxy that counts round
 *       trips.
 *   <li>{@link io.rowlock.testkit.cost.CostScene} — a schema on it, and the work that is counted there.
 *   <li>{@link io.rowlock.testkit.cost.Cost} — what was counted.
 *   <li>{@link io.rowlock.testkit.cost.CostBudget} — the file of what may be spent.
 * </ul>
 */
@NullMarked
package io.rowlock.testkit.cost;

import org.jspecify.annotations.NullMarked;
