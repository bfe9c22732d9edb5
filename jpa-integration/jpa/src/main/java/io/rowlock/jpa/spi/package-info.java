/** What the adapter of a persistence provider gives to rowlock-jpa. */
@NullMarked
package io.rowlock.jpa.spi;

import org.jspecify.annotations.NullMarked;
