/** What people did to jobs, sagas, queues, schedules and alerts, and why. */
@NullMarked
package io.rowlock.operation;

import org.jspecify.annotations.NullMarked;
