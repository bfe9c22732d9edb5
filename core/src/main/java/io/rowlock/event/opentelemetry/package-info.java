/** Rowlock's traces for OpenTelemetry. Needs {@code io.opentelemetry:opentelemetry-api}, which applications bring themselves. */
@NullMarked
package io.rowlock.event.opentelemetry;

import org.jspecify.annotations.NullMarked;
