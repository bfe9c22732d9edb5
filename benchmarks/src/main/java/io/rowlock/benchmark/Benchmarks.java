package io.rowlock.benchmark;

import io.rowlock.benchmark.load.Drains;
import io.rowlock.benchmark.run.Command;
import io.rowlock.benchmark.run.Figure;
import java.util.List;

public final class Benchmarks {
    private Benchmarks() {}

    public static void main(String[] args) throws Exception {
        List<Figure> all = List.of(Drains.deleted(), Drains.kept(), io.rowlock.benchmark.load.Keys.drained(), io.rowlock.benchmark.load.Pinned.drain(), io.rowlock.benchmark.load.Claims.beside());
        List<String> only = List.of(args[2].split(","));
        Command.run(all.stream().filter(f -> only.contains("all") || only.contains(f.id())).toList(), Integer.parseInt(args[0]), Double.parseDouble(args[1]));
    }
}
