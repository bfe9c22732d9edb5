/** What a look at the database and the wiring of a Rowlock found. */
@NullMarked
package io.rowlock.checkup;

import org.jspecify.annotations.NullMarked;
