package io.rowlock.benchmark.load;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.jspecify.annotations.Nullable;

/** The same entity without an annotation. */
@Entity(name = "PlainNote")
@Table(name = "plain_note")
public class PlainNote {
    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private @Nullable Long id;

    private String text = "";

    /** For Hibernate. */
    protected PlainNote() {}

    PlainNote(String text) {
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
