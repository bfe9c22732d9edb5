package io.rowlock.hibernate.versions;

import io.rowlock.testkit.providers.Provider;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Persistence;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.hibernate.Version;

/** Hibernate, in the version that is on the class path. */
public final class HibernateProvider implements Provider {
    @Override
    public String name() {
        return "Hibernate";
    }

    @Override
    public String version() {
        return Version.getVersionString();
    }

    @Override
    public EntityManagerFactory create(
            Collection<Class<?>> entities, DataSource dataSource, Map<String, Object> properties) {
        Map<String, Object> all = new HashMap<>(properties);
        all.put("hibernate.loaded_classes", List.copyOf(entities));
        all.put("jakarta.persistence.nonJtaDataSource", dataSource);
        return Persistence.createEntityManagerFactory("conformance", all);
    }

    @Override
    public Map<String, String> differences() {
        Map<String, String> differences = new HashMap<>();
        if (hidesStatelessSessions()) {
            String reason = "refused, or warned of, as Hibernate hides the session";
            differences.put(StatelessIT.WRITES, reason);
            differences.put(StatelessIT.UPSERT, reason);
            RepositoryIT.ROWS.forEach(row -> differences.put(row, reason));
            differences.put(StatelessIT.MULTIPLE, version().startsWith("6.") ? "not there" : reason);
            differences.put(StatelessIT.SUPPRESS, "bulk statements only");
        }
        return differences;
    }

    /** Before 7.2, listeners are not told which session a change was made in. */
    private boolean hidesStatelessSessions() {
        return version().matches("6\\..*|7\\.[01]\\..*");
    }
}
