/** Schedules: rows that make jobs at the times of a cron expression, or at an interval. */
@NullMarked
package io.rowlock.schedule;

import org.jspecify.annotations.NullMarked;
