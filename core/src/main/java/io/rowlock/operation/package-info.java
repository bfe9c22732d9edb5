/** What people did to jobs, sagas, queues, schedules, alerts, leases and stored answers, and why. */
@NullMarked
package io.rowlock.operation;

import org.jspecify.annotations.NullMarked;
