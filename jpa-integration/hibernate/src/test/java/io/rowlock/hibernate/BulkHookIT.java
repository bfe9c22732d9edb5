package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Where bulk statements are heard of stands beside the application's own services, or start-up says that it cannot. */
@PostgresTest
@Tag("B05")
final class BulkHookIT {
    @Entity(name = "Page")
    @Table(name = "page")
    @OutboxJob(kind = "page", on = Change.UPDATE)
    static class Page {
        @Id
        int id;

        String text;
    }

    private static String saidBy(ThrowingCallable work) throws Throwable {
        PrintStream before = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            work.call();
        } finally {
            System.setErr(before);
        }
        return said.toString(StandardCharsets.UTF_8);
    }

    private static void update(TestUnit unit) {
        unit.commit(em -> em.createQuery("update Page p set p.text = 'x'").executeUpdate());
    }

    @Test
    void warning_names_entity_change_kinds_and_remedy_once(TestSchema schema) throws Throwable {
        TestUnit.install(schema);
        try (TestUnit unit = TestUnit.on(schema, Page.class)) {
            assertThat(saidBy(unit::factory)).contains("warned of once");
            assertThat(saidBy(() -> update(unit)))
                    .contains("rows of Page (UPDATE) without the jobs of [page]")
                    .contains("JpaOutbox.suppress");
            assertThat(saidBy(() -> update(unit))).doesNotContain("Page");
        }
    }

    @Test
    void services_of_the_application_go_on_working(TestSchema schema) {
        TestUnit.install(schema);
        try (TestUnit unit = TestUnit.on(schema, Page.class)
                .with(OwnServices.PROPERTY, "before")
                .with("rowlock.bulk", "fail")) {
            assertThatThrownBy(() -> update(unit)).isInstanceOf(InvalidUseException.class);
            int before = OwnServices.Own.mutations;
            unit.commit(em ->
                    em.createNativeQuery("update rowlock_job set kind = 'x'").executeUpdate());
            assertThat(OwnServices.Own.mutations).isGreaterThan(before);
        }
    }

    @Test
    void start_up_says_that_bulk_statements_are_not_seen(TestSchema schema) throws Throwable {
        TestUnit.install(schema);
        try (TestUnit unit = TestUnit.on(schema, Page.class).with(OwnServices.PROPERTY, "after")) {
            assertThat(saidBy(unit::factory)).contains("not seen").contains(OwnServices.Own.class.getName());
            assertThat(saidBy(() -> update(unit))).isEmpty();
        }
    }

    @Test
    void refusal_that_cannot_be_kept_fails_the_start(TestSchema schema) {
        try (TestUnit unit = TestUnit.on(schema, Page.class)
                .with(OwnServices.PROPERTY, "after")
                .with("rowlock.bulk", "fail")) {
            assertThatThrownBy(unit::factory).hasStackTraceContaining("rowlock.bulk=fail cannot be kept");
        }
    }
}
