package io.rowlock.benchmark.load;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.jspecify.annotations.Nullable;

/** An entity each of whose inserts writes a job. */
@Entity(name = "AnnotatedNote")
@Table(name = "annotated_note")
@OutboxJob(kind = "noted", on = Change.PERSIST)
public class AnnotatedNote {
    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private @Nullable Long id;

    private String text = "";

    /** For Hibernate. */
    protected AnnotatedNote() {}

    AnnotatedNote(String text) {
        this.text = text;
    }

    /** Its number, null until it is saved. */
    public @Nullable Long id() {
        return id;
    }

    /** What it says. */
    public String text() {
        return text;
    }
}
