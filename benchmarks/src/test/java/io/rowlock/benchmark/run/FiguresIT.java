package io.rowlock.benchmark.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.benchmark.Benchmarks;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each figure runs to its end in a tiny size, so that none rots. Nothing is said here about how fast anything is. */
@Timeout(300)
final class FiguresIT {
    private static final double TINY = 0.001;
    private static final String NEEDS_A_NETWORK = "graphile-worker";

    private static Server server;

    @BeforeAll
    static void start() {
        server = new Server();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    static List<String> ids() {
        return Benchmarks.figures().stream().map(Figure::id).toList();
    }

    @ParameterizedTest
    @MethodSource("ids")
    void each_contender_is_measured_and_each_reach_is_answered(String id, @TempDir Path folder) throws Exception {
        Figure figure = figure(id);

        Result result = new Runs(server.postgres(), 1, TINY, new PrintWriter(System.out, true, UTF_8)).measure(figure);

        assertThat(result.samples())
                .filteredOn(each -> each.skipped().isEmpty())
                .isNotEmpty()
                .allSatisfy(each -> {
                    assertThat(each.median()).as(each.contender().name()).isPositive();
                    assertThat(each.median()).as(each.contender().name()).isFinite();
                });
        assertThat(result.samples())
                .filteredOn(each -> each.skipped().isPresent())
                .extracting(each -> each.contender().name())
                .isSubsetOf(NEEDS_A_NETWORK);
        assertThat(figure.reaches())
                .filteredOn(reach -> !reach.by().equals(Optional.of(NEEDS_A_NETWORK)))
                .allSatisfy(reach -> assertThat(result.value(reach)).isFinite());
        new Report(folder, Map.of(), "Tiny, on").write(result);
        assertThat(folder.resolve(id + ".md")).content().contains(figure.title(), figure.limitedBy());
        assertThat(folder.resolve(id + ".svg")).content().startsWith("<svg");
    }

    private static Figure figure(String id) {
        Figure figure = Benchmarks.figures().stream()
                .filter(each -> each.id().equals(id))
                .findFirst()
                .orElseThrow();
        return figure.with(figure.contenders().stream()
                        .map(each -> each.name().equals(NEEDS_A_NETWORK) ? each.skippedFor("it is a test") : each)
                        .toList())
                .withoutWarmUp();
    }
}
