package io.rowlock.hibernate;

import io.rowlock.error.InvalidUseException;
import io.rowlock.event.RowlockEvent.BulkStatementMet;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.EntityRules;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentHashMap;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns of bulk statements on annotated entities, or refuses them, as {@code rowlock.bulk} says. */
final class BulkStatements {
    private static final Logger LOG = LoggerFactory.getLogger(BulkStatements.class);

    private final HibernateUnit unit;
    private final EntityTables tables;
    private final boolean refuse;
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    BulkStatements(HibernateUnit unit, EntityTables tables) {
        this.unit = unit;
        this.tables = tables;
        this.refuse = unit.settings().bulk().equals("fail");
    }

    /** A statement is about to run. */
    void met(SharedSessionContractImplementor session, String sql) {
        List<TouchedTable> touched = TouchedTable.in(sql);
        if (!touched.isEmpty()) {
            tables.forEach(touched, (rules, change, kinds) -> met(session, rules, change, kinds));
        }
    }

    private void met(
            SharedSessionContractImplementor session, EntityRules rules, Change change, SortedSet<String> kinds) {
        kinds.removeIf(unit.suppressions(session)::covers);
        if (kinds.isEmpty()) {
            return;
        }
        String entity = rules.entityName();
        if (refuse) {
            // A delete has emptied the entity's collection tables already: whoever swallows this must not commit that.
            session.markForRollbackOnly();
            throw new InvalidUseException("A bulk statement would change rows of " + entity + " (" + change
                    + ") without the jobs of " + kinds + ", so rowlock.bulk=fail refuses it. Change the entities one by"
                    + " one; or write the jobs with JpaOutbox, and run the statement within JpaOutbox.suppress");
        }
        if (warned.add(entity + " " + change)) {
            LOG.warn(
                    "A bulk statement changes rows of {} ({}) without the jobs of {}; change the entities one by one, or"
                            + " write the jobs with JpaOutbox and run the statement within JpaOutbox.suppress (said once"
                            + " for each entity and change)",
                    entity,
                    change,
                    kinds);
        }
        unit.tell(new BulkStatementMet(entity, change.name(), Set.copyOf(kinds)));
    }
}
