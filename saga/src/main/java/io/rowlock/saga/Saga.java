package io.rowlock.saga;

import io.rowlock.error.InvalidUseException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A definition that was checked: what an engine runs and a drawing shows. Made by {@link SagaSteps#build()}. Immutable
 * and safe for use by many threads.
 *
 * <p><b>Compensation.</b> What stands before the pivot can be undone or says that there is nothing to undo; when a step
 * there fails for good, the completed ones are compensated in strict reverse order. What stands after the pivot can only
 * be tried again. The terms are those of Garcia-Molina and Salem, <i>Sagas</i>, SIGMOD 1987; the pivot is from Mehrotra,
 * Rastogi, Silberschatz and Korth, <i>A Transaction Model for Multidatabase Systems</i>, ICDCS 1992.
 *
 * @param <S> the saga's state
 */
public final class Saga<S> {
    private final Head<S> head;
    private final List<SagaNode<S>> nodes;
    private final Map<String, SagaNode<S>> byName = new LinkedHashMap<>();

    /** What is not a node. */
    record Head<S>(
            String name,
            int version,
            Class<S> stateType,
            List<SagaStarter<?, S>> starters,
            @Nullable Function<S, String> businessKey,
            @Nullable Duration deadline,
            Collection<StateUpcast<?, S>> upcasts) {
        Head {
            starters = List.copyOf(starters);
            upcasts = List.copyOf(upcasts);
        }
    }

    Saga(Head<S> head, List<SagaNode<S>> nodes) {
        this.head = head;
        this.nodes = nodes;
        index(nodes);
    }

    private void index(List<SagaNode<S>> line) {
        for (SagaNode<S> node : line) {
            byName.put(node.name(), node);
            node.paths().forEach(path -> index(path.nodes()));
        }
    }

    /**
     * Builds what a definition says.
     *
     * @param definition the definition
     * @param <S> the saga's state
     * @return the saga
     * @throws InvalidSagaException if the definition has mistakes; it names all of them
     * @throws InvalidUseException if the definition is null or returns null
     */
    public static <S> Saga<S> of(SagaDefinition<S> definition) {
        if (definition == null) {
            throw new InvalidUseException("The definition of a saga must not be null");
        }
        Saga<S> saga = definition.define(new SagaBuilder<>());
        if (saga == null) {
            throw new InvalidUseException("Definition " + definition.getClass().getName()
                    + " returned no saga: end it with return saga.named(...)....build()");
        }
        return saga;
    }

    /**
     * The name.
     *
     * @return the name that rows store
     */
    public String name() {
        return head.name();
    }

    /**
     * The version.
     *
     * @return 1 to 1,000,000
     */
    public int version() {
        return head.version();
    }

    /**
     * The class the state is read back as.
     *
     * @return the class, never stored
     */
    public Class<S> stateType() {
        return head.stateType();
    }

    /**
     * The name and state under which other sagas start this one as a child.
     *
     * @return the type
     */
    public SagaType<S> type() {
        return SagaType.named(head.name(), head.stateType());
    }

    /**
     * The kinds of jobs that start the saga.
     *
     * @return an unmodifiable list, empty if it is started by hand only
     */
    public List<SagaStarter<?, S>> starters() {
        return head.starters();
    }

    /**
     * What makes the business key of the first state.
     *
     * @return the function, empty if sagas have no business key
     */
    public Optional<Function<S, String>> businessKey() {
        return Optional.ofNullable(head.businessKey());
    }

    /**
     * How long a saga may take.
     *
     * @return the limit, empty if there is none
     */
    public Optional<Duration> deadline() {
        return Optional.ofNullable(head.deadline());
    }

    /**
     * How states of older versions become states of this one.
     *
     * @return an unmodifiable list, at most one for each older version
     */
    public List<StateUpcast<?, S>> upcasts() {
        return List.copyOf(head.upcasts());
    }

    /**
     * The main line.
     *
     * @return an unmodifiable list in the order the nodes are walked, never empty
     */
    public List<SagaNode<S>> nodes() {
        return nodes;
    }

    /**
     * Finds a node on the main line or inside of others.
     *
     * @param name the node's name
     * @return the node, empty if this version has none of that name
     */
    public Optional<SagaNode<S>> node(String name) {
        return Optional.ofNullable(byName.get(name));
    }

    /**
     * Draws the definition as a Mermaid flowchart: steps as boxes (transactional ones as drums), the pivot as a bold
     * hexagon, waits as flags, choices as diamonds, branches between trapezoids, compensations on dashed arrows. Names
     * are escaped, so that none of them is read as Mermaid or HTML.
     *
     * @return lines of text, the same for the same definition
     * @see <a href="https://mermaid.js.org/syntax/flowchart.html">Mermaid flowcharts</a>
     */
    public String toMermaid() {
        return toMermaid(Map.of());
    }

    /**
     * Draws one run of the definition: the same chart, in which each part that has begun, and its compensation, has a class
     * named as its status ({@code completed}, {@code retrying} ...), with a colour.
     *
     * @param steps how the steps of the run stand, by their names; other names count for nothing
     * @return lines of text
     * @throws InvalidUseException if null
     */
    public String toMermaid(Map<String, StepStatus> steps) {
        if (steps == null) {
            throw new InvalidUseException("The steps of a run must not be null; toMermaid() draws the definition");
        }
        return new MermaidChart<>(this, steps).draw();
    }

    @Override
    public String toString() {
        return "Saga " + head.name() + " version " + head.version();
    }
}
