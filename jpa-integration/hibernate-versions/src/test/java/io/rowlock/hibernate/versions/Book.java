package io.rowlock.hibernate.versions;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** An entity that a {@link Library} stores. */
@Entity
@OutboxJob(
        kind = "book",
        on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
class Book {
    @Id
    int id;

    String title;

    Book() {}

    Book(int id, String title) {
        this.id = id;
        this.title = title;
    }
}
