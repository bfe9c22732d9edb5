package io.rowlock.saga.internal.engine;

import io.rowlock.error.InvalidUseException;
import io.rowlock.internal.outbox.Leave;
import io.rowlock.job.By;
import io.rowlock.saga.SagaAnswer;
import io.rowlock.saga.SagaCancellation;
import io.rowlock.saga.SagaFork;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.SagaOutcome;
import io.rowlock.saga.SagaPage;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaRedaction;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.SagaTally;
import io.rowlock.saga.SagaTimeline;
import io.rowlock.saga.SagaView;
import io.rowlock.saga.internal.sql.FindSql;
import io.rowlock.saga.internal.sql.FindSql.Ids;
import io.rowlock.saga.internal.sql.TimelineSql;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import io.rowlock.spi.AccessPolicy.Action;
import io.rowlock.spi.AccessPolicy.Target;
import io.rowlock.spi.RowlockParts;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sagas as rows, for people: checks what is asked for, and says in the log who did what. */
final class RowSagaOperations implements SagaOperations {
    private static final Logger LOG = LoggerFactory.getLogger(RowSagaOperations.class);

    private static final Map<Action, String> WORDS =
            Map.of(Action.SKIP, "skip a step of", Action.RESOLVE, "resolve all or a step of");

    private final RowlockParts core;
    private final Deeds deeds;
    private final Readings readings;
    private final Patience patience;

    /** What is done. */
    record Deeds(Interventions interventions, Forks forks, Redactions redactions, Bulk bulk, Wishes wishes) {}

    /** What is read. */
    record Readings(FindSql finds, TimelineSql timelines, Definitions definitions) {}

    RowSagaOperations(RowlockParts core, Deeds deeds, Readings readings, Patience patience) {
        this.core = core;
        this.deeds = deeds;
        this.readings = readings;
        this.patience = patience;
    }

    @Override
    public SagaPage find(SagaQuery query) {
        return find(query, AccessPolicy.NOBODY);
    }

    @Override
    public SagaPage find(SagaQuery query, By by) {
        required(query);
        required(by);
        return patience.read("find sagas", connection -> {
            Ids ids = readings.finds().find(connection, query);
            return new SagaPage(
                    readings.finds().view(connection, ids.ids(), false).stream()
                            .map(saga -> shown(saga, by))
                            .toList(),
                    ids.next());
        });
    }

    /** What went wrong may quote what the saga says. */
    private SagaView shown(SagaView saga, By by) {
        SagaView.Course course = saga.course();
        boolean silent = course.reason() == null && course.cancel() == null;
        return silent || allowed(Action.READ, saga.id(), by) ? saga : hidden(saga, course);
    }

    private static SagaView hidden(SagaView saga, SagaView.Course course) {
        return new SagaView(
                saga.id(),
                saga.definition(),
                saga.keys(),
                saga.status(),
                new SagaView.Course(
                        course.step(),
                        course.pivoted(),
                        course.reason() == null ? null : AccessPolicy.HIDDEN,
                        course.cancel() == null ? null : AccessPolicy.HIDDEN),
                saga.times(),
                saga.driver(),
                saga.state());
    }

    @Override
    public Optional<SagaView> get(String id) {
        return get(id, AccessPolicy.NOBODY);
    }

    @Override
    public Optional<SagaView> get(String id, By by) {
        leave(Action.READ, id, by);
        return patience.read("read a saga", connection -> readings.finds().view(connection, id));
    }

    @Override
    public Optional<SagaTimeline> timeline(String id) {
        return timeline(id, AccessPolicy.NOBODY);
    }

    @Override
    public Optional<SagaTimeline> timeline(String id, By by) {
        leave(Action.READ, id, by);
        return patience.read("read the timeline of a saga", connection -> timeline(connection, id));
    }

    private Optional<SagaTimeline> timeline(Connection connection, String id) throws SQLException {
        Optional<SagaView> view = readings.finds().view(connection, id);
        if (view.isEmpty()) {
            return Optional.empty();
        }
        List<SagaTimeline.Step> steps = readings.timelines().steps(connection, id);
        return Optional.of(new SagaTimeline(
                view.get(),
                steps,
                readings.timelines().signals(connection, id),
                readings.timelines().operations(connection, id),
                RunCharts.draw(readings.definitions(), view.get(), steps)));
    }

    /** What is done to one saga; null if somebody has its row locked. */
    @FunctionalInterface
    private interface Deed {
        @Nullable
        SagaAnswer over(Connection connection) throws SQLException;
    }

    /** Refuses before any statement. */
    private void leave(Action action, String id, By by) {
        Checks.name("The id of a saga", id);
        required(by);
        Leave.require(core.access(), Access.of(action, Target.SAGA, by, id));
    }

    private boolean allowed(Action action, String id, By by) {
        return core.access().allows(Access.of(action, Target.SAGA, by, id));
    }

    private SagaAnswer once(Action action, String id, By by, Deed deed) {
        leave(action, id, by);
        String what = WORDS.getOrDefault(action, action.name().toLowerCase(Locale.ROOT));
        SagaAnswer answer = patience.patiently(what + " a saga", id, deed::over);
        LOG.info("Operation on a saga: {}, {} (saga={}, by={}): {}", what, answer, id, by.who(), by.why());
        return answer;
    }

    @Override
    public SagaAnswer retry(String id, By by) {
        return once(Action.RETRY, id, by, connection -> deeds.interventions().retry(connection, id, by));
    }

    @Override
    public SagaAnswer skip(String id, String step, By by) {
        Checks.name("The name of a step", step);
        return once(Action.SKIP, id, by, connection -> deeds.interventions().skip(connection, id, step, by));
    }

    @Override
    public SagaAnswer resolve(String id, String step, @Nullable Object state, By by) {
        Checks.name("The name of a step", step);
        return once(
                Action.RESOLVE, id, by, connection -> deeds.interventions().resolve(connection, id, step, state, by));
    }

    @Override
    public SagaAnswer resolveWhole(String id, By by) {
        List<SagaOutcome> ended = new ArrayList<>();
        SagaAnswer answer = once(Action.RESOLVE, id, by, connection -> {
            ended.clear();
            return deeds.interventions()
                    .resolveWhole(
                            connection,
                            id,
                            by,
                            (saga, reason) -> ended.add(new SagaOutcome.SagaResolved(
                                    id, saga.origin().name(), saga.origin().version(), reason)));
        });
        ended.forEach(core.listener()::on);
        return answer;
    }

    @Override
    public SagaAnswer hurry(String id, By by) {
        return once(Action.HURRY, id, by, connection -> deeds.interventions().hurry(connection, id, by));
    }

    @Override
    public SagaFork fork(String id, String fromStep, String newId, By by) {
        Checks.name("The id of a saga", id);
        Checks.name("The name of a step", fromStep);
        Checks.name("The id of a saga", newId);
        leave(Action.FORK, id, by);
        Forks.Wanted wanted = new Forks.Wanted(id, fromStep, newId, by);
        SagaFork fork = patience.patiently(
                "fork a saga", id, connection -> deeds.forks().fork(connection, wanted));
        LOG.info(
                "Fork of a saga: {} (saga={}, step={}, new={}, by={}): {}",
                fork.outcome(),
                id,
                fromStep,
                newId,
                by.who(),
                by.why());
        return fork;
    }

    @Override
    public SagaTally retryAll(SagaQuery query, By by) {
        required(query);
        required(by);
        Set<SagaStatus> of = among(query, EnumSet.copyOf(Interventions.forPeople()));
        return of.isEmpty()
                ? new SagaTally(0, 0, 0, 0)
                : deeds.bulk().all("retry sagas", of(query, of), (connection, id) -> {
                    if (!allowed(Action.RETRY, id, by)) {
                        return false;
                    }
                    SagaAnswer answer = deeds.interventions().retry(connection, id, by);
                    return answer == null ? null : answer == SagaAnswer.DONE;
                });
    }

    @Override
    public SagaTally cancelAll(SagaQuery query, By by) {
        required(query);
        required(by);
        Set<SagaStatus> of = among(query, EnumSet.of(SagaStatus.RUNNING, SagaStatus.STUCK));
        return of.isEmpty()
                ? new SagaTally(0, 0, 0, 0)
                : deeds.bulk().all("cancel sagas", of(query, of), (connection, id) -> {
                    if (!allowed(Action.CANCEL, id, by)) {
                        return false;
                    }
                    SagaCancellation answer = deeds.wishes().cancelNow(connection, id, by);
                    return answer == null ? null : answer == SagaCancellation.ACCEPTED;
                });
    }

    /** Those of the statuses that the query lets through. */
    private static Set<SagaStatus> among(SagaQuery query, Set<SagaStatus> all) {
        if (!query.statuses().isEmpty()) {
            all.retainAll(query.statuses());
        }
        return all;
    }

    private static SagaQuery of(SagaQuery query, Set<SagaStatus> statuses) {
        SagaStatus[] all = statuses.toArray(SagaStatus[]::new);
        return query.status(all[0], all);
    }

    @Override
    public SagaRedaction redact(String subject, By by) {
        Checks.name("The subject of sagas", subject);
        required(by);
        Leave.require(core.access(), new Access(Action.REDACT, Target.SAGA, by, "", "", "", subject));
        SagaRedaction redaction = deeds.redactions().redact(subject, by);
        LOG.info("Redaction of sagas: {} (by={}): {}", redaction, by.who(), by.why());
        return redaction;
    }

    private static void required(@Nullable Object value) {
        if (value == null) {
            throw new InvalidUseException(
                    "An operation needs to know who does it and why, a search what is looked for; got null");
        }
    }
}
