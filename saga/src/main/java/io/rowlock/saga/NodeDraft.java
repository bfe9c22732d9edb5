package io.rowlock.saga;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A node while its saga is written down: takes what it is given, right or wrong, and says at {@code build()} what is
 * wrong with it. For one thread.
 */
abstract class NodeDraft<S> {
    static final Duration CENTURY = Duration.ofDays(36_600);

    private final String noun;
    private final String name;
    private final List<String> mistakes = new ArrayList<>();

    NodeDraft(String noun, @Nullable String name) {
        this.noun = noun;
        this.name = String.valueOf(name);
        String mistake = Names.mistake(name);
        if (mistake != null) {
            mistake("has a wrong name: it " + mistake);
        }
    }

    /** The finished node; only called when there are no mistakes. */
    abstract SagaNode<S> node();

    /** Adds what is wrong with this node where it stands, and then what is wrong inside of it. */
    abstract void check(Place place, List<String> all);

    /** The lines of nodes inside this one. */
    List<Line<S>> lines() {
        return List.of();
    }

    final String name() {
        return name;
    }

    final String title() {
        return noun + " \"" + name + "\"";
    }

    /** What was wrong with what was given, in the order it was given. */
    final List<String> mistakes() {
        return mistakes;
    }

    /** This node and all nodes inside of it. */
    final Stream<NodeDraft<S>> all() {
        return Stream.concat(Stream.of(this), lines().stream().flatMap(Line::all));
    }

    final void mistake(String text) {
        mistakes.add(title() + " " + text);
    }

    /** Takes a value that must be there and may be given once. */
    final <V> @Nullable V once(String option, @Nullable V present, @Nullable V value) {
        if (value == null) {
            mistake("has null for " + option + ": give one");
        } else if (present != null) {
            mistake("has " + option + " twice: keep one of them");
        }
        return present == null ? value : present;
    }

    /** The same for a duration, with its range. */
    final @Nullable Duration once(String option, @Nullable Duration present, @Nullable Duration value, Duration most) {
        String mistake = value == null ? null : durationMistake(value, most);
        if (mistake != null) {
            mistake("has a wrong " + option + ": it " + mistake);
        }
        return this.<Duration>once(option, present, value);
    }

    static @Nullable String durationMistake(Duration value, Duration most) {
        boolean tooShort = value.compareTo(Duration.ofMillis(1)) < 0;
        return tooShort || value.compareTo(most) > 0
                ? "must be between 1 ms and " + (most.equals(CENTURY) ? "100 years" : DurationText.of(most)) + ", got "
                        + value
                : null;
    }

    /** For finished nodes: what {@code check} has made sure of. */
    static <V> V given(@Nullable V value) {
        if (value == null) {
            throw new IllegalStateException("A saga with mistakes was finished");
        }
        return value;
    }
}
