package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.internal.BeanSource;
import io.rowlock.jpa.internal.ChangedEntity;
import io.rowlock.jpa.internal.EntityJobs;
import io.rowlock.jpa.internal.EntityType;
import jakarta.transaction.Status;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("P9")
final class SessionScopeTest {
    @OutboxJob(kind = "thing", on = Change.PERSIST)
    static class Thing {}

    private final SessionScope scope = new SessionScope();
    private final List<Collection<Enqueued>> woken = new ArrayList<>();

    private static final BeanSource NO_BEANS = new BeanSource() {
        @Override
        public <B> B bean(Class<B> type) {
            throw new AssertionError("No factory is needed");
        }
    };

    /** Without facts, which nobody asks for before payloads are made. */
    private static ChangedEntity change() {
        EntityType type = new EntityType("key", "Thing", Thing.class, Map.of(), Set.of());
        EntityJobs jobs = EntityJobs.of(List.of(type), NO_BEANS);
        return new ChangedEntity(jobs.rules("key"), new Thing(), Set.of(Change.PERSIST), null, null);
    }

    private static Enqueued job(long id, String kind, int second) {
        return new Enqueued(id, kind, "default", Priority.NORMAL, Instant.ofEpochSecond(second), false, false);
    }

    @Test
    void flush_that_ends_gives_its_changes_away() {
        scope.begin();
        scope.add(change());
        assertThat(scope.end(true)).hasSize(1);
        assertThat(scope.end(true)).isEmpty();
        assertThat(scope.isFlushing()).isFalse();
    }

    @Test
    void next_flush_forgets_what_a_failed_one_left() {
        scope.begin();
        scope.add(change());
        scope.begin();
        assertThat(scope.end(true)).isEmpty();
    }

    @Test
    void end_of_the_transaction_forgets_what_a_failed_flush_left() {
        scope.begin();
        scope.add(change());
        scope.afterCompletion(Status.STATUS_ROLLEDBACK);
        assertThat(scope.isFlushing()).isFalse();
        assertThat(scope.end(true)).isEmpty();
    }

    @Test
    void only_a_commit_wakes_and_with_the_earliest_of_each_lane() {
        scope.wrote(List.of(job(1, "a", 5), job(2, "a", 3), job(3, "b", 9)), woken::add);
        scope.afterCompletion(Status.STATUS_UNKNOWN);
        assertThat(woken).isEmpty();
        scope.wrote(List.of(job(4, "a", 5), job(5, "a", 3), job(6, "b", 9)), woken::add);
        scope.wrote(List.of(job(7, "a", 4)), woken::add);
        scope.afterCompletion(Status.STATUS_COMMITTED);
        scope.afterCompletion(Status.STATUS_COMMITTED);
        assertThat(woken).hasSize(1);
        assertThat(woken.get(0)).extracting(Enqueued::id).containsExactlyInAnyOrder(5L, 6L);
    }

    @Test
    void writing_within_writing_ends_at_a_depth() {
        for (int i = 0; i < 10; i++) {
            scope.enterWrite();
        }
        assertThatThrownBy(scope::enterWrite).isInstanceOf(InvalidUseException.class);
    }
}
