package io.rowlock.testkit.providers;

import java.util.List;
import java.util.ServiceLoader;

/** Finds the provider under test. */
public final class Providers {
    private Providers() {}

    /**
     * The one on the class path.
     *
     * @return a new instance
     * @throws IllegalStateException if there is none, or more than one
     */
    public static Provider here() {
        List<Provider> found = ServiceLoader.load(Provider.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        if (found.size() != 1) {
            throw new IllegalStateException("One " + Provider.class.getName()
                    + " in META-INF/services of the test classes is needed, found " + found);
        }
        return found.get(0);
    }
}
