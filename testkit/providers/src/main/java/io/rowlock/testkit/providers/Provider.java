package io.rowlock.testkit.providers;

import jakarta.persistence.EntityManagerFactory;
import java.util.Collection;
import java.util.Map;
import javax.sql.DataSource;

/**
 * A persistence provider under test, in one version. The module that runs the suite has one implementation, found by
 * {@link java.util.ServiceLoader}. Used by one thread at a time.
 */
public interface Provider {
    /**
     * What the provider is called in the report.
     *
     * @return for example {@code Hibernate}
     */
    String name();

    /**
     * Which version is on the class path, asked of the provider itself.
     *
     * @return for example {@code 7.4.15}
     */
    String version();

    /**
     * Starts a persistence unit with transactions of its own ({@code RESOURCE_LOCAL}).
     *
     * @param entities all its entities, embeddables, mapped superclasses and converters
     * @param dataSource where its connections come from; {@code autocommit} until a transaction begins
     * @param properties standard ones, which ask for tables to be created, and {@code rowlock.*}
     * @return the unit; the suite closes it
     */
    EntityManagerFactory create(Collection<Class<?>> entities, DataSource dataSource, Map<String, Object> properties);

    /**
     * Where this version does not do what a corner says.
     *
     * @return for the words of a {@link Corner}, why, for the report; the corner's test must fail then, so that the
     *     report never claims less than is true
     */
    default Map<String, String> differences() {
        return Map.of();
    }
}
