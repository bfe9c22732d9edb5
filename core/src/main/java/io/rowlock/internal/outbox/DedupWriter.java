package io.rowlock.internal.outbox;

import io.rowlock.error.RowlockException;
import io.rowlock.internal.outbox.DedupGroup.Request;
import io.rowlock.internal.sql.DedupSql;
import io.rowlock.internal.sql.DedupSql.Conflict;
import io.rowlock.internal.sql.DedupSql.Written;
import io.rowlock.internal.sql.HolderSql;
import io.rowlock.internal.sql.HolderSql.Holder;
import io.rowlock.internal.sql.HolderSql.Taken;
import io.rowlock.internal.sql.Names;
import io.rowlock.job.Enqueued;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Writes the jobs of a call in which some have dedup keys. */
final class DedupWriter {
    /*
     * Three steps, each over all rows of the call before the next begins:
     *
     * 1. Every row is inserted whose key is free. This may wait for other transactions that have inserted the same key;
     *    keys are taken in one order, so of two calls one waits and neither for the other.
     * 2. The jobs that hold the other keys are locked, in the same order, and changed where the mode says so. Whoever
     *    waits here waits for rows that were committed before, and whoever holds such a row inserts no more: a cycle
     *    would need both.
     * 3. What was found neither free nor taken was claimed or pruned in between. It is inserted again, by a statement
     *    that locks the holder where there is one, so that step 2 then finds it for certain. Here two calls may wait for
     *    each other, if both meet a claim between their steps; the server ends one.
     *
     * Ids are drawn in the order of the requests, as rows are not written in it.
     */
    private static final int IDS = 10_000;

    private final DedupSql sql;
    private final HolderSql holders;

    DedupWriter(Names names) {
        this.sql = new DedupSql(names);
        this.holders = new HolderSql(names);
    }

    /** The answers in the order of the requests. */
    List<Enqueued> write(Connection connection, List<Request> requests) throws SQLException {
        List<DedupGroup> groups = DedupGroup.collapse(requests);
        if (groups.size() > 1) {
            drawIds(connection, groups);
        }
        List<DedupGroup> inOrder = groups.stream().sorted(DedupGroup.KEY_ORDER).toList();
        insert(connection, inOrder, Conflict.SKIP);
        find(connection, open(inOrder));
        insert(connection, waiting(open(inOrder)), Conflict.LOCK_WAITING);
        insert(connection, once(open(inOrder)), Conflict.LOCK_ONCE);
        find(connection, open(inOrder));
        if (!open(inOrder).isEmpty()) {
            throw new RowlockException(
                    "A job with a dedup key was neither written nor found; roll the transaction back");
        }
        Enqueued[] answers = new Enqueued[requests.size()];
        groups.forEach(group -> group.answer(answers));
        return Arrays.asList(answers);
    }

    private void drawIds(Connection connection, List<DedupGroup> groups) throws SQLException {
        for (int from = 0; from < groups.size(); from += IDS) {
            List<DedupGroup> part = groups.subList(from, Math.min(groups.size(), from + IDS));
            List<Long> ids = sql.drawIds(connection, part.size());
            for (int i = 0; i < part.size(); i++) {
                part.get(i).drawn(ids.get(i));
            }
        }
    }

    private void insert(Connection connection, List<DedupGroup> groups, Conflict conflict) throws SQLException {
        for (List<DedupGroup> part : Statements.of(groups, DedupGroup::bytes)) {
            List<Written> written =
                    sql.enqueue(connection, part.stream().map(DedupGroup::row).toList(), conflict);
            if (part.size() == 1 && !written.isEmpty()) {
                part.get(0).written(written.get(0));
                continue;
            }
            Map<Long, DedupGroup> byId = new HashMap<>();
            part.forEach(group -> byId.put(Objects.requireNonNullElse(group.id(), -1L), group));
            for (Written row : written) {
                Objects.requireNonNull(byId.get(row.id())).written(row);
            }
        }
    }

    private void find(Connection connection, List<DedupGroup> taken) throws SQLException {
        for (List<DedupGroup> part : Statements.of(once(taken), group -> 0)) {
            answer(part, holders.findOnce(connection, keys(part)));
        }
        List<DedupGroup> waiting = waiting(taken);
        boolean change = waiting.stream().anyMatch(DedupGroup::changes);
        for (List<DedupGroup> part : Statements.of(waiting, group -> change ? group.bytes() : 0)) {
            answer(part, change ? holders.change(connection, keys(part)) : holders.keep(connection, keys(part)));
        }
    }

    private static void answer(List<DedupGroup> groups, List<Holder> found) {
        found.forEach(holder -> groups.get(holder.place()).heldBy(holder.job()));
    }

    private static List<Taken> keys(List<DedupGroup> groups) {
        return groups.stream().map(DedupGroup::taken).toList();
    }

    private static List<DedupGroup> open(List<DedupGroup> groups) {
        return groups.stream().filter(group -> !group.answered()).toList();
    }

    private static List<DedupGroup> once(List<DedupGroup> groups) {
        return groups.stream().filter(DedupGroup::once).toList();
    }

    private static List<DedupGroup> waiting(List<DedupGroup> groups) {
        return groups.stream().filter(group -> !group.once()).toList();
    }
}
