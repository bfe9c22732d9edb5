package io.rowlock.saga.internal.engine;

import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaNode;
import io.rowlock.saga.SagaStatus;
import io.rowlock.saga.StepStatus;
import io.rowlock.saga.internal.sql.LoadSql.Loaded;
import io.rowlock.saga.internal.sql.SagaRow;
import io.rowlock.saga.internal.sql.SagaRow.Progress;
import io.rowlock.saga.internal.sql.SagaWrite;
import io.rowlock.saga.internal.sql.SagaWrite.Consumed;
import io.rowlock.saga.internal.sql.SagaWrite.DriverDeed;
import io.rowlock.saga.internal.sql.SignalRow;
import io.rowlock.saga.internal.sql.StepRow;
import io.rowlock.saga.internal.sql.StepRow.StepKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One saga in its driver's hands: its rows as they were loaded, and on top of them what is not recorded yet. For one
 * thread at a time.
 */
final class Instance<S> {
    private final Saga<S> definition;
    private final StateCodec codec;
    private final Map<StepKey, StepRow> steps = new HashMap<>();
    private final Map<String, SignalRow> signals = new HashMap<>();
    private final Map<StepKey, StepRow> changed = new LinkedHashMap<>();
    private final List<Consumed> consumed = new ArrayList<>();
    private final Map<Scope, S> states = new HashMap<>();
    private final SagaRow row;
    private SagaStatus status;
    private Progress progress;
    private boolean told;
    private @Nullable String cancel;
    private boolean over;
    private String state;
    private boolean stateChanged;
    private Instant revision;
    private Instant now;
    private long readAt;

    Instance(Saga<S> definition, StateCodec codec, Loaded loaded, long readAt) {
        this.definition = definition;
        this.codec = codec;
        this.row = loaded.saga();
        this.state = row.state();
        this.status = row.status();
        this.progress = row.progress();
        this.told = row.wishes().told();
        this.cancel = row.wishes().cancel();
        this.over = row.wishes().over();
        this.revision = loaded.revision();
        this.now = loaded.now();
        this.readAt = readAt;
        loaded.steps().forEach(step -> steps.put(step.key(), step));
        loaded.signals().forEach(signal -> signals.put(signal.name(), signal));
    }

    /** The record of the saga that this knows. */
    Instant revision() {
        return revision;
    }

    Saga<S> definition() {
        return definition;
    }

    SagaRow row() {
        return row;
    }

    String id() {
        return row.id();
    }

    SagaStatus status() {
        return status;
    }

    Progress progress() {
        return progress;
    }

    boolean pivoted() {
        return progress.pivoted();
    }

    @Nullable
    String cancel() {
        return cancel;
    }

    /** Whether its deadline is over and nobody was told. */
    boolean lateUntold() {
        return over && !told;
    }

    /** When its deadline will be over; null if it has none, or that was told. */
    @Nullable
    Instant deadline() {
        return told ? null : row.wishes().deadline();
    }

    /** The database's time, as it has gone on since it was asked for (promise P7). */
    Instant now() {
        return now.plusNanos(System.nanoTime() - readAt);
    }

    Instant in(Duration delay) {
        return now().plus(delay);
    }

    boolean isOver(@Nullable Instant due) {
        return due == null || !due.isAfter(now());
    }

    /** The step of that name, or null if it has not begun. */
    @Nullable
    StepRow step(String name) {
        return steps.get(StepKey.of(name));
    }

    /** The saga under whose keys the step was done: that of which this is a fork, for what it took over. */
    String doneBy(String step) {
        StepRow taken = step(step);
        boolean own = taken == null
                || taken.outcome().chosen() == null
                || definition.node(step).orElse(null) instanceof SagaNode.Choose;
        return own ? row.id() : taken.outcome().chosen();
    }

    @Nullable
    StepRow step(StepKey key) {
        return steps.get(key);
    }

    Iterable<StepRow> steps() {
        return List.copyOf(steps.values());
    }

    /** Changes a step. */
    void put(StepRow step) {
        steps.put(step.key(), step);
        changed.put(step.key(), step);
        if (step.key().branch().isEmpty()) {
            progress = new Progress(step.key().step(), progress.pivoted(), progress.ended(), progress.reason());
        }
    }

    /** Ends a step as the next in the order of ends. */
    void end(StepRow step, StepStatus as) {
        int number = progress.ended() + 1;
        put(step.end(as, number));
        progress = new Progress(progress.step(), progress.pivoted(), number, progress.reason());
    }

    /** It is at this step, of all that it has begun. */
    void standAt(String step) {
        progress = new Progress(step, progress.pivoted(), progress.ended(), progress.reason());
    }

    void status(SagaStatus next, @Nullable String reason) {
        status = next;
        progress = new Progress(
                next.finished() ? null : progress.step(),
                progress.pivoted(),
                progress.ended(),
                reason == null ? progress.reason() : reason);
    }

    void pivot() {
        progress = new Progress(progress.step(), true, progress.ended(), progress.reason());
    }

    /** The deadline has been told. */
    void told() {
        told = true;
    }

    /** The oldest signal of the name that has moved nothing; null if there is none. */
    @Nullable
    SignalRow signal(String name) {
        return signals.get(name);
    }

    /** Signals that have come since it was read, of each name the oldest; true if one is new here. */
    boolean hear(List<SignalRow> received) {
        boolean news = false;
        for (SignalRow signal : received) {
            boolean used = consumed.stream().anyMatch(each -> each.signal() == signal.id());
            news |= !used && signals.putIfAbsent(signal.name(), signal) == null;
        }
        return news;
    }

    /** It moves the step. */
    void consume(SignalRow signal, String step) {
        signals.remove(signal.name());
        consumed.add(new Consumed(signal.id(), step));
    }

    /** The state that nodes there work on. */
    S state(Scope scope) throws Exception {
        S known = states.get(scope);
        if (known == null) {
            known = codec.read(json(scope), definition.stateType());
            states.put(scope, known);
        }
        return known;
    }

    String json(Scope scope) {
        if (scope.branch() == null) {
            return state;
        }
        StepRow branch = Objects.requireNonNull(steps.get(scope.branch()), "branch");
        return Objects.requireNonNull(branch.outcome().result(), "state of a branch");
    }

    /** Writes a state that was returned there. The JSON is read again for what follows, as after a crash. */
    void state(Scope scope, String json) {
        states.remove(scope);
        if (scope.branch() == null) {
            state = json;
            stateChanged = true;
        } else {
            put(Objects.requireNonNull(steps.get(scope.branch()), "branch").result(json));
        }
    }

    /** What is not recorded yet, under this lease. */
    SagaWrite write(SagaWrite.Driver driver, DriverDeed deed) {
        return new SagaWrite(
                driver.knowing(revision),
                statusUnder(deed),
                stateChanged ? state : null,
                progress,
                told,
                List.copyOf(changed.values()),
                consumed,
                deed);
    }

    /** As long as it has a driver, as its branches still run, nobody else is to do anything to it. */
    private SagaStatus statusUnder(DriverDeed deed) {
        if (deed instanceof DriverDeed.End || !status.needsPerson()) {
            return status;
        }
        return status == SagaStatus.STUCK ? SagaStatus.RUNNING : SagaStatus.COMPENSATING;
    }

    /** The same, with steps begun, perhaps the pivot: what is not to be recorded if somebody wants the saga to end. */
    SagaWrite writeStart(SagaWrite.Driver driver, DriverDeed deed, List<StepRow> starts, boolean pivot) {
        Map<StepKey, StepRow> all = new LinkedHashMap<>(changed);
        starts.forEach(start -> all.put(start.key(), start));
        String last = starts.get(starts.size() - 1).key().step();
        Progress next = new Progress(last, progress.pivoted() || pivot, progress.ended(), progress.reason());
        return new SagaWrite(
                driver.knowing(revision),
                statusUnder(deed),
                stateChanged ? state : null,
                next,
                told,
                List.copyOf(all.values()),
                consumed,
                deed);
    }

    /** All is recorded; it was that time then. */
    void recorded(Instant at, long askedAt, Instant as) {
        clean();
        revision = as;
        now = at;
        readAt = askedAt;
    }

    /** To be run if what is changed from now on was rolled back. Only where all before is recorded. */
    Runnable mark() {
        Map<StepKey, StepRow> stepsThen = Map.copyOf(steps);
        SagaStatus statusThen = status;
        Progress progressThen = progress;
        String stateThen = state;
        return () -> {
            clean();
            steps.clear();
            steps.putAll(stepsThen);
            states.clear();
            status = statusThen;
            progress = progressThen;
            state = stateThen;
        };
    }

    /** Nothing is left to record. */
    void clean() {
        changed.clear();
        consumed.clear();
        stateChanged = false;
    }
}
