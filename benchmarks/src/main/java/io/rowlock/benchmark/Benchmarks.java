package io.rowlock.benchmark;

import io.rowlock.benchmark.load.AfterCommits;
import io.rowlock.benchmark.load.Claims;
import io.rowlock.benchmark.load.Connections;
import io.rowlock.benchmark.load.Drains;
import io.rowlock.benchmark.load.Enqueue;
import io.rowlock.benchmark.load.Entities;
import io.rowlock.benchmark.load.FiveSteps;
import io.rowlock.benchmark.load.Handlers;
import io.rowlock.benchmark.load.Heap;
import io.rowlock.benchmark.load.Idle;
import io.rowlock.benchmark.load.Keys;
import io.rowlock.benchmark.load.Latency;
import io.rowlock.benchmark.load.Millions;
import io.rowlock.benchmark.load.Pinned;
import io.rowlock.benchmark.load.Processes;
import io.rowlock.benchmark.load.Transactional;
import io.rowlock.benchmark.load.Trickle;
import io.rowlock.benchmark.load.Wal;
import io.rowlock.benchmark.run.Bench;
import io.rowlock.benchmark.run.Figure;
import java.util.List;

/** All figures; see {@code ./bench --help}. */
public final class Benchmarks {
    private Benchmarks() {}

    /** In the order in which they are measured. */
    public static List<Figure> figures() {
        return List.of(
                Drains.deleted(),
                Drains.kept(),
                Handlers.lasting(),
                Transactional.drained(),
                Processes.drained(),
                Keys.drained(),
                Enqueue.single(),
                AfterCommits.handled(),
                FiveSteps.moved(),
                Latency.toHandler(),
                Trickle.besideDeadEntries(),
                Pinned.drain(),
                Claims.beside(),
                Millions.waiting(),
                Wal.perJob(),
                Idle.statements(),
                Connections.held(),
                Entities.single(),
                Entities.flush(),
                Heap.flat());
    }

    /**
     * Runs the command.
     *
     * @param arguments its arguments
     */
    public static void main(String[] arguments) {
        System.exit(Bench.run(figures(), arguments));
    }
}
