package io.rowlock.hibernate.versions;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import jakarta.persistence.Basic;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.util.TreeSet;

/** An entity of {@link LazyIT}, which loads it enhanced. */
@Entity(name = "Essay")
@Table(name = "essay")
public class LazyEssay implements LazyIT.Essay {
    @Kind("told")
    public record Told(String text) {}

    @Id
    int id;

    String title;

    @Basic(fetch = FetchType.LAZY)
    String text;

    @Basic(fetch = FetchType.LAZY)
    BigDecimal fee;

    @Override
    public void title(String to) {
        this.title = to;
    }

    @Override
    public void text(String to) {
        this.text = to;
    }

    @Override
    public void fee(int to) {
        this.fee = BigDecimal.valueOf(to);
    }

    @OutboxJob(on = Change.UPDATE)
    public Told told(EntityChange<LazyEssay> change) {
        String known = change.knowsNewValue("text") ? String.valueOf(change.newValue("text")) : "not known";
        return new Told(new TreeSet<>(change.dirtyAttributes()) + " " + known + ", read: " + text);
    }
}
