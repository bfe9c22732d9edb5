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
 * <p><b>On a method</b> of an entity or of its superclasses, the method makes the payload. It takes no parameter or an
 * {@link EntityChange} of the entity, is not static, and returns the payload type, an {@code Optional} or a {@code List}
 * of it; null and empty mean no job. It is called after the change was sent to the database: ids are final, lazy
 * associations may be read. It must not change entities, and what it throws rolls the transaction back. <b>On a
 * type</b>, the payload is {@link EntityChanged}, or made by a {@link PayloadFactory}.
 *
 * <p>A change made during a flush gets its job when that flush ends, with all others of the flush, in one statement for
 * every 1,000. There is one job for each annotation and entity in a flush: persisted and updated is {@link Change#PERSIST},
 * persisted and removed is none. A change outside a flush (an id made by the database at {@code persist}, a stateless
 * session) gets its job at once, with the state at that moment.
 *
 * <p>The job is due at once, with the subject {@code Order:42}: the entity's name and id. A subject or ordering key
 * that would be too long or hold control characters has a hash in the id's place.
 *
 * <p>An update counts if an attribute changed that the entity's row stores, or a collection that the entity owns. Where
 * nothing was really changed there is no job: a forced version increment, a collection put in place of an equal one.
 *
 * <p>Annotations are inherited from superclasses, mapped or not. An overriding method with annotations of its own
 * replaces the overridden one's; a type's annotation replaces one of the same kind on a superclass. All mistakes are
 * reported together when the persistence unit starts.
 *
 * <p><b>What makes no job:</b> bulk JPQL, HQL, Criteria and SQL statements, which no provider reports entity by entity:
 * write their jobs with {@link JpaOutbox}. Where the provider lets it be seen, one that touches the table of an annotated
 * entity is warned about, once for each entity and change, or refused where the unit's property {@code rowlock.bulk} is
 * {@code fail}; {@code allow} says nothing. Changes within {@link JpaOutbox#suppress}. Before Hibernate 7.2, a stateless
 * session that writes an annotated entity fails, as its job would be lost; where {@code rowlock.stateless} is
 * {@code warn}, it warns once for each entity.
 *
 * <p>The settings of a persistence unit are properties of it: {@code rowlock.schema} ({@code public}),
 * {@code rowlock.table-prefix} ({@code rowlock_}), {@code rowlock.max-payload-bytes} (2097152), {@code rowlock.stateless}
 * ({@code fail}), {@code rowlock.bulk} ({@code warn}). A {@code Rowlock} built with {@code persistenceUnit(...)} reads
 * them, and wakes its workers after each commit; without one the unit writes its jobs all the same, and the poll finds
 * them.
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
     * @return names of attributes and owned collections, and paths into embedded objects ({@code "address.city"}); none
     *     for every update. Not together with {@link #ignoring()}. Not what no update by the entity changes: the id, the
     *     version, a formula, a column that is not updatable or whose value the database makes
     */
    String[] changed() default {};

    /**
     * Leaves out updates in which nothing but these attributes changed. Where the provider cannot tell what changed, the
     * job is made.
     *
     * @return names and paths as in {@link #changed()}; also of columns that are not updatable or whose values the
     *     database makes, which never count; none by default
     */
    String[] ignoring() default {};

    /**
     * Gives the job an ordering key, so that the jobs with the same key run one at a time and in order: by the id
     * {@code Order:42}, with the name of the uppermost entity of an inheritance; by a reference {@code Customer:7}, what
     * it refers to; by another attribute {@code Order.region:EU}, as it is stored: what its converter makes of it, the name
     * or number of an enum. No key where the value is null.
     *
     * @return the name of the id, of a basic attribute or of a reference, or a path into an embedded object or an
     *     embedded id; a value made by the database is read back in time; empty for no ordering key. Not a formula, a
     *     column that another attribute writes, an attribute that is loaded lazily, or what is serialized, JSON or a LOB
     */
    String orderedBy() default "";

    /**
     * Names what the job is about, in place of the entity: by a reference {@code Customer:7}, by another attribute
     * {@code Order.region:EU}. Where the value is null, it is the entity.
     *
     * @return a name as in {@link #orderedBy()}; empty for the entity
     */
    String subject() default "";

    /**
     * The queue that the job goes to.
     *
     * @return 1 to 200 characters; empty for queue {@code default}
     */
    String queue() default "";

    /**
     * Makes the payload where that needs services. On a type only.
     *
     * @return a class that implements {@link PayloadFactory} for the entity; none by default
     */
    Class<? extends PayloadFactory<?, ?>> payload() default PayloadFactory.None.class;
}
