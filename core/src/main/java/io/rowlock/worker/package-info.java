/** Workers: which queues and handlers they serve, how they are started, stopped and watched. */
@NullMarked
package io.rowlock.worker;

import org.jspecify.annotations.NullMarked;
