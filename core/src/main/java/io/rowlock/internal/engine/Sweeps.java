package io.rowlock.internal.engine;

import io.rowlock.internal.engine.Sweeper.Found;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The sweeps in turn: every second time the due rows, and between them the suspects, the jobs with ordering keys, and the
 * keys. All of them at the start; then about one a second, so that an idle worker asks little. Keeps what was found and nobody has taken yet; that is claimed
 * by id, so what is stale is just not there. For the claimer's thread.
 */
final class Sweeps {
    private static final int ROUND = 6;
    private static final int STRANDED = 5;

    private final Sweeper plain;
    private final KeyedSweeper keyed;
    private List<Found> late = new ArrayList<>();
    private List<Found> suspects = new ArrayList<>();
    private final int atOnce;
    private int turn;

    /** @param poll how often {@link #step} is called */
    Sweeps(Sweeper plain, KeyedSweeper keyed, Duration poll) {
        this.plain = plain;
        this.keyed = keyed;
        this.atOnce = (int) Math.max(1, Math.min(ROUND, poll.toSeconds()));
    }

    /** In place of the next ones, where no lane has a due row: those of lanes would see none. True if a head was made ready. */
    boolean stepOverLanes() throws SQLException {
        boolean promoted = false;
        plain.beginAnew();
        keyed.beginAnew();
        putBack(List.of());
        for (int i = 0; i < atOnce; i++) {
            if (turn++ % ROUND == STRANDED) {
                promoted |= keyed.settleStranded();
            }
        }
        return promoted;
    }

    /** The next sweep or sweeps. */
    void step() throws SQLException {
        int sweeps = turn == 0 ? ROUND : atOnce;
        for (int i = 0; i < sweeps; i++) {
            sweep();
        }
    }

    private void sweep() throws SQLException {
        switch (turn++ % ROUND) {
            case 1 -> suspects = plain.suspects();
            case 3 -> keyed.walk();
            case 4 -> late = plain.walkThrough();
            case STRANDED -> keyed.settleStranded();
            default -> late = plain.walk();
        }
    }

    /** All sweeps. */
    void all() throws SQLException {
        for (int i = 0; i < ROUND; i++) {
            sweep();
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
