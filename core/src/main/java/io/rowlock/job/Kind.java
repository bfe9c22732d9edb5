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
}
