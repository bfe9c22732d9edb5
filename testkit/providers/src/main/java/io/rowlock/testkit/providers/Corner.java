package io.rowlock.testkit.providers;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A row of the report on providers: on a test method, the row; on its class, the part of the table it stands in. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Corner {
    /**
     * The words of the row or of the part.
     *
     * @return what happens, and after a colon what comes of it; each row once
     */
    String value();
}
