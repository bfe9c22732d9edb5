/** Schedules: when they come, and the jobs they make. */
package io.rowlock.internal.schedule;
