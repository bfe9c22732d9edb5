package io.rowlock.jpa.internal;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.spi.ConnectionAccess;
import jakarta.persistence.EntityManagerFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** The adapters on the class path. */
public final class Providers {
    private final List<ConnectionAccess> found = new ArrayList<>();

    /** Looks for them: where the application's classes are, then beside rowlock-jpa. */
    public Providers() {
        ServiceLoader.load(ConnectionAccess.class).forEach(found::add);
        if (found.isEmpty()) {
            ServiceLoader.load(ConnectionAccess.class, ConnectionAccess.class.getClassLoader())
                    .forEach(found::add);
        }
    }

    /** The adapter of a unit's provider. */
    public ConnectionAccess of(EntityManagerFactory factory) {
        return found.stream()
                .filter(each -> each.accepts(factory))
                .findFirst()
                .orElseThrow(() -> new InvalidUseException("No adapter for "
                        + factory.getClass().getName() + " on the class path; add rowlock-hibernate"));
    }

    /** The adapter of a session's provider. */
    public ConnectionAccess ofSession(AutoCloseable session) {
        return found.stream()
                .filter(each -> each.acceptsSession(session))
                .findFirst()
                .orElseThrow(() -> new InvalidUseException("No adapter for "
                        + session.getClass().getName() + " on the class path; add rowlock-hibernate"));
    }
}
