package io.rowlock.hibernate;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import org.hibernate.engine.spi.SharedSessionContractImplementor;

/** The scope of each session. A session that is gone takes its scope along; sessions are equal only to themselves. */
final class SessionScopes {
    private final Map<SharedSessionContractImplementor, SessionScope> scopes =
            Collections.synchronizedMap(new WeakHashMap<>());

    SessionScope of(SharedSessionContractImplementor session) {
        return scopes.computeIfAbsent(session, added -> new SessionScope());
    }
}
