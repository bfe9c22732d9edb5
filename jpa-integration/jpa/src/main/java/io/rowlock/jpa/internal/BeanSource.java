package io.rowlock.jpa.internal;

/** Where payload factories come from; for any thread. */
public interface BeanSource {
    /** The instance of a class: a managed bean where there are such, else made by its constructor without parameters. */
    <B> B bean(Class<B> type);

    /** Whether there may be managed beans, so that a class need not have such a constructor. */
    default boolean hasContainer() {
        return false;
    }
}
