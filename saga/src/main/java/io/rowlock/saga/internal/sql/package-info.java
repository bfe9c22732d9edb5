/** The statements of sagas, as named text blocks, and their rows as records. */
package io.rowlock.saga.internal.sql;
