package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Sweeper.Found;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The sweeps in turn, one at a time so that an idle worker asks little: every second time the due rows, and between them
 * the suspects, the jobs with ordering keys, and the keys. Keeps what was found and nobody has taken yet; that is claimed
 * by id, so what is stale is just not there. For the claimer's thread.
 */
final class Sweeps {
    private final Sweeper plain;
    private final KeyedSweeper keyed;
    private List<Found> late = new ArrayList<>();
    private List<Found> suspects = new ArrayList<>();
    private int turn;

    Sweeps(Sweeper plain, KeyedSweeper keyed) {
        this.plain = plain;
        this.keyed = keyed;
    }

    /** One sweep. */
    void step() throws SQLException {
        switch (turn++ % 6) {
            case 1 -> suspects = plain.suspects();
            case 3 -> keyed.walk();
            case 4 -> late = plain.walkThrough();
            case 5 -> keyed.settleStranded();
            default -> late = plain.walk();
        }
    }

    /** All sweeps. */
    void all() throws SQLException {
        for (int i = 0; i < 6; i++) {
            step();
        }
    }

    boolean hasFound() {
        return !late.isEmpty() || !suspects.isEmpty();
    }

    /** Takes out what was found. */
    List<Found> takeFound() {
        List<Found> found = new ArrayList<>(late);
        found.addAll(suspects);
        putBack(List.of());
        return found;
    }

    /** Keeps what could not be claimed yet, until a sweep finds it anew. */
    void putBack(List<Found> found) {
        late = new ArrayList<>(found.stream().filter(row -> !row.suspect()).toList());
        suspects = new ArrayList<>(found.stream().filter(Found::suspect).toList());
    }
}
