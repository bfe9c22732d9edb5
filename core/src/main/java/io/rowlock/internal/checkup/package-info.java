/** The checks of {@code rowlock.checkup()}: one class for each subject. They read only. */
@NullMarked
package io.rowlock.internal.checkup;

import org.jspecify.annotations.NullMarked;
