/** Alerts: rows that say a person is needed, and who is told of them. */
@NullMarked
package io.rowlock.alert;

import org.jspecify.annotations.NullMarked;
