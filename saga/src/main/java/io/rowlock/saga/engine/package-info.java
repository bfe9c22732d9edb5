/** Puts sagas together with the workers that move them. */
package io.rowlock.saga.engine;
