package io.rowlock.jpa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Holds several {@link OutboxJob} of one method or type; written by the compiler. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface OutboxJobs {
    /**
     * The annotations.
     *
     * @return in the order of the source
     */
    OutboxJob[] value();
}
