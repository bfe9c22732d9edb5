package io.rowlock.internal.idempotency;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.idempotency.Answers;
import io.rowlock.idempotency.IdempotencyKey;
import io.rowlock.idempotency.StoredAnswer;
import io.rowlock.internal.outbox.Leave;
import io.rowlock.internal.sql.AnswerSql;
import io.rowlock.internal.sql.AnswerSql.AnswerRow;
import io.rowlock.internal.sql.AnswerSql.Stretch;
import io.rowlock.internal.sql.IdempotencySql.Place;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OwnTransaction;
import io.rowlock.job.By;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.ConnectionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stored answers as rows, read and taken out. */
public final class RowAnswers implements Answers {
    private static final Logger LOG = LoggerFactory.getLogger(RowAnswers.class);
    private static final int AT_ONCE = 500;

    private final AnswerSql sql;
    private final ConnectionSource connections;
    private final AccessPolicy policy;

    /** @param policy asked before each operation */
    public RowAnswers(Names names, ConnectionSource connections, AccessPolicy policy) {
        this.sql = new AnswerSql(names);
        this.connections = connections;
        this.policy = policy;
    }

    @Override
    public List<StoredAnswer> find(String principal, IdempotencyKey key, By by) {
        ask(Action.READ, principal, required("The key", key), by);
        return perform(connection -> OwnTransaction.run(connection, open -> {
                    sql.recordRead(open, principal, key.value(), by);
                    return sql.find(open, principal, key.value());
                }))
                .stream()
                .map(row ->
                        new StoredAnswer(row.method(), row.path(), row.response(), row.createdAt(), row.expiresAt()))
                .toList();
    }

    @Override
    public long redact(String principal, IdempotencyKey key, By by) {
        ask(Action.REDACT, principal, required("The key", key), by);
        long done = perform(connection -> {
            List<Place> places = sql.find(connection, principal, key.value()).stream()
                    .map(AnswerRow::place)
                    .toList();
            return redact(connection, places, new Theirs(principal, key.value(), by));
        });
        LOG.info("Stored answers redacted: {} (by={}): {}", done, by.who(), by.why());
        return done;
    }

    @Override
    public long redact(String principal, By by) {
        ask(Action.REDACT, principal, null, by);
        long done = perform(connection -> {
            Theirs all = new Theirs(principal, null, by);
            long redacted = 0;
            Place end = null;
            do {
                Stretch stretch = sql.ofPrincipal(connection, principal, end);
                redacted += redact(connection, stretch.theirs(), all);
                end = stretch.end();
            } while (end != null);
            return redacted;
        });
        LOG.info("Stored answers redacted: {} (by={}): {}", done, by.who(), by.why());
        return done;
    }

    /** Whose answers, under which key, for whom. */
    private record Theirs(String principal, @Nullable String key, By by) {}

    private long redact(Connection connection, List<Place> places, Theirs theirs) throws SQLException {
        long redacted = 0;
        for (int from = 0; from < places.size(); from += AT_ONCE) {
            List<Place> some = places.subList(from, Math.min(places.size(), from + AT_ONCE));
            redacted += OwnTransaction.run(
                    connection, open -> sql.redact(open, some, theirs.principal(), theirs.key(), theirs.by()));
        }
        return redacted;
    }

    private void ask(Action action, String principal, @Nullable IdempotencyKey key, By by) {
        required("Whose answers, the principal,", principal);
        required("Who does it, and why: by", by);
        boolean allowed = !principal.isBlank()
                && principal.codePointCount(0, principal.length()) <= 200
                && principal.chars().noneMatch(Character::isISOControl);
        if (!allowed) {
            throw new InvalidUseException("The principal of a request has 1 to 200 characters, none of control");
        }
        String name = key == null ? "" : key.value();
        Leave.require(policy, new Access(action, Target.ANSWER, by, name, "", "", principal));
    }

    private static <T> T required(String what, @Nullable T value) {
        if (value == null) {
            throw new InvalidUseException(what + " must not be null");
        }
        return value;
    }

    @FunctionalInterface
    private interface Work<T> {
        T over(Connection connection) throws SQLException;
    }

    private <T> T perform(Work<T> work) {
        try (Connection connection = connections.get()) {
            connection.setAutoCommit(true);
            return work.over(connection);
        } catch (SQLException e) {
            throw new DatabaseException("Stored answers could not be read or redacted", e);
        }
    }
}
