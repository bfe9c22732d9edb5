/** What moves sagas: a driver walks one, the ledger records many. */
package io.rowlock.saga.internal.engine;
