package io.rowlock.benchmark;

import io.rowlock.benchmark.load.Claims;
import io.rowlock.benchmark.load.Drains;
import io.rowlock.benchmark.load.Keys;
import io.rowlock.benchmark.load.Pinned;
import io.rowlock.benchmark.load.Wal;
import io.rowlock.benchmark.run.Bench;
import io.rowlock.benchmark.run.Figure;
import java.util.List;

/** All figures; see {@code ./bench --help}. */
public final class Benchmarks {
    private static final List<Figure> FIGURES =
            List.of(Drains.deleted(), Drains.kept(), Wal.perJob(), Pinned.drain(), Claims.beside(), Keys.drained());

    private Benchmarks() {}

    /**
     * Runs the command.
     *
     * @param arguments its arguments
     */
    public static void main(String[] arguments) {
        System.exit(Bench.run(FIGURES, arguments));
    }
}
