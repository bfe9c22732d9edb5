package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Refuses or warns of what a StatelessSession writes where Hibernate hides it from listeners, which is before 7.2. */
final class HiddenSessions {
    private static final Logger LOG = LoggerFactory.getLogger(HiddenSessions.class);

    private final UnitSettings settings;
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    HiddenSessions(UnitSettings settings) {
        this.settings = settings;
    }

    /** A session that is hidden writes an entity whose job nobody can write. */
    void met(String entity) {
        if (!settings.warnOfStateless()) {
            throw new InvalidUseException("The job of " + entity + " would be lost, so its row is not written: before"
                    + " 7.2, Hibernate hides a StatelessSession from listeners. Use a Session, or a newer Hibernate, or"
                    + " set rowlock.stateless=warn and write the jobs with Outbox");
        }
        if (warned.add(entity)) {
            LOG.warn(
                    "Entity {} is written through a StatelessSession, which this version of Hibernate hides from"
                            + " listeners: no job is written for it; write it with Outbox (said once for each entity)",
                    entity);
        }
    }
}
