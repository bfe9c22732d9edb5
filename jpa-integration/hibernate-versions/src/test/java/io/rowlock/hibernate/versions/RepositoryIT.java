package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import java.util.List;
import java.util.function.Consumer;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a Jakarta Data repository writes has its jobs; it uses a StatelessSession. */
@Corner("Jakarta Data")
@Tag("B15")
final class RepositoryIT extends ProviderTest {
    static final String WRITES = "@Insert, @Update, @Delete: a job each";
    static final String SAVE = "@Save: PERSIST or UPDATE";
    static final String ROLLBACK = "a repository rolled back: no job";
    static final List<String> ROWS = List.of(WRITES, SAVE, ROLLBACK);

    RepositoryIT(TestSchema schema) {
        super(schema, Book.class);
    }

    private void inTransaction(Consumer<Library> work, boolean commit) {
        try (StatelessSession session =
                unit.factory().unwrap(SessionFactory.class).openStatelessSession()) {
            session.beginTransaction();
            work.accept(new Library_(session));
            if (commit) {
                session.getTransaction().commit();
            } else {
                session.getTransaction().rollback();
            }
        }
    }

    @Test
    @Corner(WRITES)
    void writes() throws Exception {
        inTransaction(library -> library.insert(new Book(1, "Emma")), true);
        assertThat(changes()).containsExactly("Book 1 PERSIST");
        inTransaction(library -> library.update(new Book(1, "Emma, revised")), true);
        assertThat(changes()).containsExactly("Book 1 PERSIST", "Book 1 UPDATE");
        inTransaction(library -> library.delete(new Book(1, "Emma, revised")), true);
        assertThat(changes()).containsExactly("Book 1 PERSIST", "Book 1 REMOVE", "Book 1 UPDATE");
        assertThat(schema.count("SELECT count(*) FROM book")).isZero();
    }

    @Test
    @Corner(SAVE)
    void save() throws Exception {
        inTransaction(library -> library.save(new Book(1, "Emma")), true);
        assertThat(changes()).hasSize(1).first().asString().matches("Book 1 (PERSIST|UPDATE)");
        inTransaction(library -> library.save(new Book(1, "Emma, revised")), true);
        assertThat(changes()).hasSize(2);
        assertThat(schema.list(String.class, "SELECT title FROM book")).containsExactly("Emma, revised");
    }

    @Test
    @Corner(ROLLBACK)
    void rolled_back() throws Exception {
        inTransaction(library -> library.insert(new Book(1, "Emma")), true);
        forgetJobs();
        inTransaction(
                library -> {
                    library.insert(new Book(2, "Persuasion"));
                    library.update(new Book(1, "Emma, revised"));
                    library.save(new Book(3, "Sanditon"));
                    library.delete(new Book(1, "Emma"));
                },
                false);
        assertThat(changes()).isEmpty();
        assertThat(schema.list(String.class, "SELECT title FROM book")).containsExactly("Emma");
    }
}
