/** The confirmation mail, by SMTP. */
@NullMarked
package io.rowlock.examples.orders.mail;

import org.jspecify.annotations.NullMarked;
