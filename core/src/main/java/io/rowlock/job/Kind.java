package io.rowlock.job;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the kind of job that a payload type stands for. The name is what the row stores, never the class name (promise
 * P13), so the class may be renamed and moved freely.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Kind {
    /**
     * The stable logical name, such as {@code order-confirmation}: 1 to 200 characters, not blank, no control
     * characters.
     *
     * @return the name written to new jobs
     */
    String value();

    /**
     * Names under which older jobs of this kind were written. A worker also claims these; new jobs never get them.
     *
     * @return older names, none by default
     */
    String[] aliases() default {};

    /**
     * The version of the payload, raised when its meaning changes so that older jobs cannot be read as they are. Written with
     * each job; a handler's {@code HandlerConfig.upcast} makes this version of an older one.
     *
     * @return 1 to 10,000; 1 by default
     */
    int version() default 1;
}
