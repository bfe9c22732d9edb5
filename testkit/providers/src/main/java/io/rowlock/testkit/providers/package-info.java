/**
 * The conformance suite of persistence providers: what an adapter implements ({@link Provider}) and what its own corners
 * are made of. The suite itself is in {@code corners}.
 */
@NullMarked
package io.rowlock.testkit.providers;

import org.jspecify.annotations.NullMarked;
