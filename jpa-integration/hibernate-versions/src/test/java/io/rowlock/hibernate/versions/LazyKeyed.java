package io.rowlock.hibernate.versions;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import jakarta.persistence.Basic;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;

/** An entity of {@link LazyIT} with a mistake. */
@Entity(name = "Keyed")
@OutboxJob(kind = "keyed", on = Change.UPDATE, orderedBy = "region")
public class LazyKeyed {
    @Id
    int id;

    @Basic(fetch = FetchType.LAZY)
    String region;
}
