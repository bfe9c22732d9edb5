/**
 * The corners: test classes that a provider's module runs, from this artifact. Only Jakarta Persistence 3.1 and the
 * annotations of Rowlock are used here.
 */
package io.rowlock.testkit.providers.corners;
