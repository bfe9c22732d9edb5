package io.rowlock.internal.outbox;

import io.rowlock.internal.sql.DedupSql.NewRow;
import io.rowlock.internal.sql.DedupSql.Written;
import io.rowlock.internal.sql.EnqueueSql.Due;
import io.rowlock.internal.sql.EnqueueSql.NewJob;
import io.rowlock.internal.sql.HolderSql.Taken;
import io.rowlock.job.DedupMode;
import io.rowlock.job.Enqueued;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one call that have one kind and key, as if they had been written one after the other: the first may
 * become a row, and what the others change is in that row already. A request without a key is a group of its own.
 */
final class DedupGroup {
    /* The order in which keys are taken, the same for every call, so that two calls cannot wait for each other. */
    static final Comparator<DedupGroup> KEY_ORDER = Comparator.comparing((DedupGroup group) -> group.key == null)
            .thenComparing(group -> !group.once())
            .thenComparing(group -> group.first.kind())
            .thenComparing(group -> group.key == null ? "" : group.key);

    private final NewJob first;
    private final @Nullable String key;
    private final @Nullable DedupMode mode;
    private final List<Integer> places = new ArrayList<>();
    private @Nullable NewJob content;
    private @Nullable Due pushedBack;
    private @Nullable Due latest;
    private int bytes;
    private @Nullable Long id;
    private @Nullable Enqueued job;

    private DedupGroup(Request request) {
        this.first = request.job();
        this.key = request.key();
        this.mode = request.mode();
        this.latest = first.due();
        this.bytes = request.bytes();
    }

    /** A job to be written, its payload's size, and its key if it has one. */
    record Request(
            NewJob job,
            int bytes,
            @Nullable String key,
            @Nullable DedupMode mode) {}

    private record Name(String kind, String key, boolean once) {}

    /** The groups in the order of their first requests. */
    static List<DedupGroup> collapse(List<Request> requests) {
        List<DedupGroup> groups = new ArrayList<>();
        Map<Name, DedupGroup> byName = new LinkedHashMap<>();
        for (int place = 0; place < requests.size(); place++) {
            Request request = requests.get(place);
            DedupGroup group = null;
            if (request.key() != null) {
                Name name = new Name(request.job().kind(), request.key(), request.mode() == DedupMode.ONCE);
                group = byName.get(name);
                if (group == null) {
                    group = new DedupGroup(request);
                    byName.put(name, group);
                    groups.add(group);
                }
            } else {
                group = new DedupGroup(request);
                groups.add(group);
            }
            group.add(place, request);
        }
        return groups;
    }

    private void add(int place, Request request) {
        places.add(place);
        if (request.mode() == DedupMode.REPLACE) {
            content = request.job();
            bytes = request.bytes();
        } else if (request.mode() == DedupMode.PUSH_BACK) {
            pushedBack = later(pushedBack, request.job().due());
            latest = later(latest, request.job().due());
        }
    }

    private static Due later(@Nullable Due one, Due other) {
        return one == null ? other : new Due(max(one.at(), other.at()), max(one.after(), other.after()));
    }

    private static <T extends Comparable<T>> @Nullable T max(@Nullable T one, @Nullable T other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return one.compareTo(other) >= 0 ? one : other;
    }

    boolean once() {
        return mode == DedupMode.ONCE;
    }

    /** Whether a job that holds the key already is changed by this. */
    boolean changes() {
        return content != null || pushedBack != null;
    }

    int bytes() {
        return bytes;
    }

    void drawn(long number) {
        id = number;
    }

    @Nullable
    Long id() {
        return id;
    }

    NewRow row() {
        NewJob told = content == null ? first : content;
        return new NewRow(
                id,
                new NewJob(
                        first.queue(),
                        first.kind(),
                        first.priority(),
                        told.subject(),
                        told.payload(),
                        told.headers(),
                        first.maxAttempts(),
                        first.keys(),
                        Objects.requireNonNull(latest)),
                key,
                mode);
    }

    Taken taken() {
        return new Taken(first.kind(), Objects.requireNonNull(key), content, pushedBack);
    }

    boolean answered() {
        return job != null;
    }

    void written(Written row) {
        job = new Enqueued(
                row.id(),
                first.kind(),
                first.queue(),
                first.priority(),
                row.runAt(),
                first.keys().any(),
                false);
    }

    void heldBy(Enqueued holder) {
        job = holder;
    }

    /** Puts the answers to their places: the first request may have made the job, the others are duplicates of it. */
    void answer(Enqueued[] answers) {
        Enqueued told = Objects.requireNonNull(job);
        for (int place : places) {
            answers[place] = told;
            told = new Enqueued(
                    told.id(), told.kind(), told.queue(), told.priority(), told.runAt(), told.keyed(), true);
        }
    }
}
