/** Alerts as rows: who is told, what people do to them, what is looked at. */
@NullMarked
package io.rowlock.internal.alert;

import org.jspecify.annotations.NullMarked;
