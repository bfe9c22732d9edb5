package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.saga.SagaCursor;
import io.rowlock.saga.SagaPage;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaTimeline;
import io.rowlock.saga.SagaView;
import io.rowlock.saga.engine.SagaEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What is to be seen of sagas. */
final class SagaLookCommands {
    private SagaLookCommands() {}

    /** The newest first. */
    @Command(name = "find", description = "Lists sagas, the newest first.")
    static final class Find extends Action {
        @Mixin
        private SagaFilter filter = new SagaFilter();

        @Mixin
        private Limit limit = new Limit();

        @Override
        void check() {
            filter.query();
            limit.most();
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            SagaQuery query = filter.query().pageSize(limit.page(0));
            List<List<@Nullable Object>> rows = new ArrayList<>();
            Optional<SagaCursor> next = Optional.empty();
            do {
                SagaPage page = SagaCommands.engine(rowlock, "default")
                        .operations()
                        .find(next.map(query::after).orElse(query));
                page.sagas().forEach(each -> rows.add(row(each)));
                next = page.next();
            } while (next.isPresent() && rows.size() <= limit.most());
            boolean more = rows.size() > limit.most();
            out.list(
                    List.of("id", "name", "version", "status", "step", "businessKey", "updatedAt", "reason"),
                    more ? rows.subList(0, limit.most()) : rows);
            if (more) {
                Limit.more(out);
            }
            return rows.isEmpty() ? ExitCode.NOTHING : ExitCode.FINE;
        }

        private static List<@Nullable Object> row(SagaView saga) {
            return Arrays.asList(
                    saga.id(),
                    saga.definition().name(),
                    saga.definition().version(),
                    SagaCommands.word(saga.status()),
                    saga.course().step(),
                    saga.keys().businessKey(),
                    saga.times().updated(),
                    saga.course().reason());
        }
    }

    private abstract static class OneSaga extends Action {
        @Parameters(paramLabel = "ID", description = "The saga.")
        private String id = "";

        @Override
        final int run(Rowlock rowlock, Printer out) {
            return show(SagaCommands.engine(rowlock, "default"), id, out);
        }

        abstract int show(SagaEngine sagas, String id, Printer out);
    }

    /** How it stands. */
    @Command(name = "show", description = "Shows how a saga stands; its state only when told.")
    static final class Show extends OneSaga {
        @Option(names = "--payload", description = "Show the state, which may hold personal data.")
        private boolean payload;

        @Override
        int show(SagaEngine sagas, String id, Printer out) {
            Optional<SagaView> found = sagas.operations().get(id);
            if (found.isEmpty()) {
                return out.missing("saga", id);
            }
            out.sheet(parts(found.get()));
            return ExitCode.FINE;
        }

        private Map<String, @Nullable Object> parts(SagaView saga) {
            Map<String, @Nullable Object> parts = new LinkedHashMap<>();
            parts.put("id", saga.id());
            parts.put("name", saga.definition().name());
            parts.put("version", saga.definition().version());
            parts.put("status", SagaCommands.word(saga.status()));
            parts.put("step", saga.course().step());
            parts.put("pivoted", saga.course().pivoted());
            parts.put("reason", saga.course().reason());
            parts.put("cancel", saga.course().cancel());
            parts.put("businessKey", saga.keys().businessKey());
            parts.put("subject", saga.keys().subject());
            parts.put("parent", saga.keys().parent());
            parts.put("createdAt", saga.times().created());
            parts.put("updatedAt", saga.times().updated());
            parts.put("finishedAt", saga.times().finished());
            parts.put("deadline", saga.times().deadline());
            SagaView.Driver driver = saga.driver();
            parts.put("driver", driver == null ? null : driver.job());
            parts.put("driverDue", driver == null ? null : driver.due());
            parts.put("worker", driver == null ? null : driver.worker());
            String state = saga.state();
            if (payload && state != null) {
                parts.put("state", new Printer.Raw(state));
            }
            return parts;
        }
    }

    /** What happened. */
    @Command(name = "timeline", description = "Shows what happened to a saga: steps, signals, what people did.")
    static final class Timeline extends OneSaga {
        private static final List<String> HEAD =
                List.of("sort", "name", "status", "attempts", "at", "finishedAt", "text");

        @Override
        int show(SagaEngine sagas, String id, Printer out) {
            Optional<SagaTimeline> found = sagas.operations().timeline(id);
            if (found.isPresent()) {
                print(found.get(), out);
                return ExitCode.FINE;
            }
            if (!out.json()) {
                return out.missing("saga", id);
            }
            out.list(HEAD, List.of()); // an array, as of those that are there
            return ExitCode.NOTHING;
        }

        private static void print(SagaTimeline timeline, Printer out) {
            if (!out.json()) {
                timeline.toText().stripTrailing().lines().forEach(out::say);
                out.text("");
                return;
            }
            List<List<@Nullable Object>> rows = new ArrayList<>();
            timeline.steps()
                    .forEach(step -> rows.add(Arrays.asList(
                            "step",
                            step.branch().isEmpty() ? step.name() : step.name() + '/' + step.branch(),
                            SagaCommands.word(step.status()),
                            step.attempts(),
                            step.times().started(),
                            step.times().finished(),
                            step.error())));
            timeline.signals()
                    .forEach(signal -> rows.add(Arrays.asList(
                            "signal", signal.name(), null, null, signal.received(), null, signal.consumedBy())));
            timeline.operations()
                    .forEach(done -> rows.add(Arrays.asList(
                            "operation",
                            done.what(),
                            done.step(),
                            null,
                            done.at(),
                            null,
                            done.who() + ": " + done.why())));
            out.list(HEAD, rows);
        }
    }
}
