/**
 * Which change of which entity makes which job: read from the annotations once, at start-up, by {@code RuleReader};
 * asked at run time through {@code EntityRules}. Knows no provider; adapters tell it what was mapped and what changed.
 */
@NullMarked
package io.rowlock.jpa.internal;

import org.jspecify.annotations.NullMarked;
