package io.rowlock.saga.internal.engine;

import io.rowlock.internal.engine.EngineConnection;
import io.rowlock.internal.sql.SqlState;
import io.rowlock.saga.internal.engine.Ledger.Answer;
import io.rowlock.saga.internal.engine.Ledger.Beside;
import io.rowlock.saga.internal.engine.Ledger.Entry;
import io.rowlock.saga.internal.engine.Turns.Asked;
import io.rowlock.saga.internal.sql.RecordSql;
import io.rowlock.saga.internal.sql.RecordSql.Locked;
import io.rowlock.saga.internal.sql.RecordSql.Wanted;
import io.rowlock.saga.internal.sql.SagaWrite;
import io.rowlock.saga.internal.sql.SagaWrite.Driver;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what drivers have to record, a group in a transaction. One that is refused is found by halving, and keeps nobody else's
 * back. For one thread at a time.
 */
final class Scribe {
    private static final Logger LOG = LoggerFactory.getLogger(Scribe.class);

    private final EngineConnection connection;
    private final RecordSql records;
    private final Runnable due;

    /** @param due tells workers that jobs were written */
    Scribe(EngineConnection connection, RecordSql records, Runnable due) {
        this.connection = connection;
        this.records = records;
        this.due = due;
    }

    /** What is written beside may wait for others, and so goes alone. */
    void recordAll(List<Asked<Entry, Answer>> together) throws SQLException {
        List<Asked<Entry, Answer>> plain = new ArrayList<>();
        List<Asked<Entry, Answer>> alone = new ArrayList<>();
        Map<String, Asked<Entry, Answer>> once = new HashMap<>();
        for (Asked<Entry, Answer> each : together) {
            Entry entry = each.question();
            boolean first = once.putIfAbsent(entry.full().driver().saga(), each) == null;
            (first && entry.isPlain() ? plain : alone).add(each);
        }
        Map<String, List<Asked<Entry, Answer>>> byOwner = new HashMap<>();
        plain.forEach(each -> byOwner.computeIfAbsent(each.question().owner(), owner -> new ArrayList<>())
                .add(each));
        for (List<Asked<Entry, Answer>> group : byOwner.values()) {
            recordGroup(group);
        }
        for (Asked<Entry, Answer> each : alone) {
            recordGroup(List.of(each));
            due.run();
        }
    }

    private void recordGroup(List<Asked<Entry, Answer>> group) throws SQLException {
        try {
            List<Beside> beside = new ArrayList<>();
            Map<Asked<Entry, Answer>, Answer> answers = connection.inTransaction(open -> write(open, group, beside));
            answers.forEach(Asked::answer);
            beside.forEach(Beside::committed);
        } catch (SQLException e) {
            if (!SqlState.refusesData(e)) {
                throw e;
            }
            if (group.size() == 1) {
                group.get(0).fail(e);
                return;
            }
            LOG.warn("A group of sagas was refused; recording it in halves (sagas={}): {}", group.size(), e.toString());
            recordGroup(group.subList(0, group.size() / 2));
            recordGroup(group.subList(group.size() / 2, group.size()));
        }
    }

    private Map<Asked<Entry, Answer>, Answer> write(
            Connection open, List<Asked<Entry, Answer>> group, List<Beside> beside) throws SQLException {
        String owner = group.get(0).question().owner();
        boolean deletes = group.get(0).question().deletes();
        List<Driver> drivers =
                group.stream().map(each -> each.question().full().driver()).toList();
        Map<String, Locked> locked = records.lock(open, owner, drivers);
        Set<String> moved = records.awaited(open, wanted(group, locked));
        Set<Long> held = locked.size() < group.size() ? records.held(open, owner, drivers) : Set.of();
        Map<Asked<Entry, Answer>, Answer> answers = new HashMap<>();
        List<Chosen> chosen = new ArrayList<>();
        for (Asked<Entry, Answer> each : group) {
            Entry entry = each.question();
            Driver driver = entry.full().driver();
            Locked seen = locked.get(driver.saga());
            if (seen == null) {
                answers.put(each, held.contains(driver.job()) ? new Answer.Busy() : new Answer.Lost());
            } else if (!seen.revision().equals(driver.seen())) {
                answers.put(each, new Answer.Stale());
            } else {
                boolean gives = entry.gives() && (seen.cancel() != null || seen.over());
                chosen.add(new Chosen(each, seen, !gives && !moved.contains(driver.saga())));
            }
        }
        write(open, chosen, deletes, answers);
        for (Beside more : chosen.stream().flatMap(Chosen::beside).toList()) {
            more.write(open);
            beside.add(more);
        }
        return answers;
    }

    /** What is to be written of an entry: all, or the reduced. */
    private record Chosen(Asked<Entry, Answer> asked, Locked seen, boolean all) {
        SagaWrite write() {
            return all ? asked.question().full() : asked.question().reduced();
        }

        Stream<Beside> beside() {
            Entry entry = asked.question();
            return all ? Stream.concat(entry.beside().stream(), entry.besideFull().stream()) : entry.beside().stream();
        }

        Answer answer(Instant revision) {
            return all ? new Answer.Recorded(seen, revision) : new Answer.Reduced(seen, revision);
        }
    }

    private void write(Connection open, List<Chosen> chosen, boolean deletes, Map<Asked<Entry, Answer>, Answer> answers)
            throws SQLException {
        if (chosen.isEmpty()) {
            return;
        }
        String owner = chosen.get(0).asked().question().owner();
        Map<String, Instant> revisions =
                records.write(open, owner, chosen.stream().map(Chosen::write).toList(), deletes);
        for (Chosen each : chosen) {
            Instant revision =
                    Objects.requireNonNull(revisions.get(each.write().driver().saga()), "a locked saga was written");
            answers.put(each.asked(), each.answer(revision));
        }
    }

    private static List<Wanted> wanted(List<Asked<Entry, Answer>> group, Map<String, Locked> locked) {
        List<Wanted> wanted = new ArrayList<>();
        for (Asked<Entry, Answer> each : group) {
            String saga = each.question().full().driver().saga();
            if (locked.containsKey(saga)) {
                each.question().awaited().forEach(name -> wanted.add(new Wanted(saga, name)));
            }
        }
        return wanted;
    }
}
