package io.rowlock.jpa.internal;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChanged;
import java.util.List;

/** Where the payloads of a rule come from. */
interface PayloadSource {
    /** The class that {@link EntityChanged} jobs and methods of one kind must agree on. */
    Class<?> payloadType();

    /** The payloads for a change; empty for no job. */
    List<?> payloads(ChangedEntity changed, Change change);

    /** The source of annotations on types: says which row changed. */
    PayloadSource DEFAULT = new PayloadSource() {
        @Override
        public Class<?> payloadType() {
            return EntityChanged.class;
        }

        @Override
        public List<?> payloads(ChangedEntity changed, Change change) {
            EntityFacts facts = changed.facts();
            return List.of(new EntityChanged(changed.rules().entityName(), facts.id(), change, facts.version()));
        }
    };
}
