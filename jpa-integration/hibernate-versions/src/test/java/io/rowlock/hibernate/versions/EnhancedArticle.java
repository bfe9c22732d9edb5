package io.rowlock.hibernate.versions;

import io.rowlock.hibernate.versions.EnhancedIT.Article;
import io.rowlock.hibernate.versions.EnhancedIT.Told;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import jakarta.persistence.Basic;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.TreeSet;

/** The entity of {@link EnhancedIT}, which loads it in another form: so it stands alone. */
@Entity(name = "Article")
@Table(name = "article")
public class EnhancedArticle implements Article {
    @Id
    int id;

    String title;

    @Basic(fetch = FetchType.LAZY)
    String body;

    @Override
    public void title(String text) {
        this.title = text;
    }

    @Override
    public void body(String text) {
        this.body = text;
    }

    @OutboxJob(on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    public Told told(EntityChange<EnhancedArticle> change) {
        return new Told(change.operation() + " " + new TreeSet<>(change.dirtyAttributes()) + " "
                + (change.knowsOldValue("body") ? change.oldValue("body") : "not loaded"));
    }
}
