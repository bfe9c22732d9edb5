/** What happens inside Rowlock, told to listeners: one record per event. */
@NullMarked
package io.rowlock.event;

import org.jspecify.annotations.NullMarked;
