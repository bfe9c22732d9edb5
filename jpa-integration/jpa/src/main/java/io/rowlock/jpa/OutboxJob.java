package io.rowlock.jpa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Writes a job when the entity changes, in the transaction and over the connection of the change: the job exists if and
 * only if the change commits, and follows its savepoints (promise P1).
 *
 * <p><b>On a method</b> of an entity or of its superclasses, the method makes the payload. It takes no parameter, is not
 * static, and returns the payload type, an {@code Optional} or a {@code List} of it; null and empty mean no job. It is
 * called after the change was sent to the database: ids are final, lazy associations may be read. It must not change
 * entities, and what it throws rolls the transaction back. <b>On a type</b>, the payload is {@link EntityChanged}.
 *
 * <p>A change made during a flush gets its job when that flush ends, with all others of the flush, in one statement for
 * every 1,000. There is one job for each annotation and entity in a flush: persisted and updated is {@link Change#PERSIST},
 * persisted and removed is none. A change outside a flush (an id made by the database at {@code persist}, a stateless
 * session) gets its job at once, with the state at that moment.
 *
 * <p>The job goes to queue {@code default}, due at once, with the subject {@code Order:42}: the entity's name and id. A
 * subject that would be too long or hold control characters has a hash in the id's place.
 *
 * <p>Annotations are inherited from superclasses, mapped or not. An overriding method with annotations of its own
 * replaces the overridden one's; a type's annotation replaces one of the same kind on a superclass. All mistakes are
 * reported together when the persistence unit starts.
 *
 * <p><b>What makes no job:</b> bulk JPQL, HQL, Criteria and SQL statements, which no provider reports entity by entity
 * (write their jobs with {@link JpaOutbox}); a forced version increment; changes of the rows of a collection whose owner
 * has no version attribute. Before Hibernate 7.2, a stateless session that writes an annotated entity fails, as its job
 * would be lost; where the unit's property {@code rowlock.stateless} is {@code warn}, it warns once for each entity.
 *
 * <p>The settings of a persistence unit are properties of it: {@code rowlock.schema} ({@code public}),
 * {@code rowlock.table-prefix} ({@code rowlock_}), {@code rowlock.max-payload-bytes} (2097152), {@code rowlock.stateless}
 * ({@code fail}). A {@code Rowlock} built with {@code persistenceUnit(...)} reads them, and wakes its workers after each
 * commit; without one the unit writes its jobs all the same, and the poll finds them.
 */
@Documented
@Repeatable(OutboxJobs.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface OutboxJob {
    /**
     * The kind of the job: 1 to 200 characters. Needed on a type. On a method it may be left out where the payload type
     * has {@link io.rowlock.job.Kind}; given, it wins over that.
     *
     * @return the kind's name, or an empty text for that of the payload type
     */
    String kind() default "";

    /**
     * The changes that make the job.
     *
     * @return one at least
     */
    Change[] on();

    /**
     * Limits {@link Change#UPDATE} to updates in which one of these attributes changed. Other changes named in
     * {@link #on()} are not limited. Where the provider cannot tell what changed, the job is made.
     *
     * @return names of attributes, neither collections nor paths into embedded objects; none for every update
     */
    String[] changed() default {};
}
