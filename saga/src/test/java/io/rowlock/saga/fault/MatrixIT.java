package io.rowlock.saga.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.saga.SagaType;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.saga.fault.HaltingChild.Point;
import io.rowlock.saga.fault.HaltingChild.Scenario;
import io.rowlock.saga.fault.Trouble.Kind;
import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A saga of five steps whose calls fail, hang and are cut off by the death of the process, one after the other at every
 * place there is. However that goes, in the outside services' own books it ends like a clean run or like a full undo.
 */
@PostgresTest
@Tag("P4")
@Tag("P6")
@Tag("B08")
@Timeout(300)
final class MatrixIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final List<String> UNDOS = List.of("undo-pack", "undo-invoice", "undo-charge", "undo-reserve");

    private Scene scene;

    @BeforeEach
    void begin(TestSchema schema) throws SQLException {
        scene = Scene.create(schema);
    }

    @AfterEach
    void end() throws SQLException {
        scene.close();
    }

    @Test
    void every_call_fails_once_before_and_after_its_effect_and_hangs_once() throws Exception {
        List<Purchase> buy = new ArrayList<>();
        List<Purchase> fail = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            if (kind != Kind.FAILS_FOR_GOOD) {
                Shop.BUY_STEPS.forEach(call -> buy.add(troubled("buy", call, kind)));
                Shop.FAIL_STEPS.forEach(call -> fail.add(troubled("fail", call, kind)));
                UNDOS.forEach(call -> fail.add(troubled("fail", call, kind)));
            }
        }
        SagaEngine engine = engine(new Trouble(), TIMEOUT);
        scene.begin(engine, Shop.BUY, buy.toArray(Purchase[]::new));
        scene.begin(engine, Shop.FAIL, fail.toArray(Purchase[]::new));
        scene.start(engine, scene.rowlock(), worker -> worker.queue("default", 40));
        scene.awaitAll();

        assertThat(wrong(buy, "completed")).isEmpty();
        assertThat(wrong(fail, "compensated")).isEmpty();
        assertThat(untroubled(buy, fail)).as("calls that had no second attempt").isEmpty();
        assertBalanced(buy.size());
    }

    private static Purchase troubled(String type, String call, Kind kind) {
        return Purchase.of(type + ' ' + call + ' ' + kind, Trouble.of(call, kind));
    }

    /** The troubles that did not happen: it is always the first attempt that has it, of {@code FAILS_TWICE_BEFORE} the second too. */
    private Set<String> untroubled(List<Purchase> buy, List<Purchase> fail) throws SQLException {
        Set<String> all = new TreeSet<>();
        Stream.of(buy, fail).flatMap(List::stream).map(Purchase::id).forEach(all::add);
        all.removeAll(scene.schema().list(String.class, """
                SELECT s.id FROM rowlock_saga s JOIN rowlock_saga_step t ON t.saga = s.id
                CROSS JOIN LATERAL (SELECT CASE WHEN s.state ->> 'trouble' LIKE '%:FAILS_TWICE_BEFORE' THEN 2 ELSE 1 END AS n) had
                WHERE s.state ->> 'trouble' LIKE t.step || ':%' AND t.attempts > had.n
                   OR s.state ->> 'trouble' LIKE 'undo-' || t.step || ':%' AND t.compensation_attempts > had.n
                """));
        return all;
    }

    @Test
    void a_compensation_that_fails_for_good_leaves_what_was_done_before_it_untouched() throws Exception {
        List<Purchase> all = UNDOS.stream()
                .map(call -> troubled("fail", call, Kind.FAILS_FOR_GOOD))
                .toList();
        SagaEngine engine = engine(new Trouble(), TIMEOUT);
        scene.begin(engine, Shop.FAIL, all.toArray(Purchase[]::new));
        scene.start(engine, scene.rowlock(), worker -> {});
        scene.awaitAll();

        for (Purchase each : all) {
            String failing = each.trouble().split(":", -1)[0];
            List<String> undone = UNDOS.subList(0, UNDOS.indexOf(failing));
            assertThat(scene.status(each.id())).as(each.id()).isEqualTo("compensation_failed");
            assertThat(scene.books().of(each.id()))
                    .as(each.id())
                    .containsExactlyElementsOf(Stream.of("reserve", "charge", "pack")
                            .map(step -> step + (undone.contains("undo-" + step) ? " undone" : " done"))
                            .toList());
            assertThat(scene.invoices(each.id()))
                    .as(each.id())
                    .containsExactly(undone.contains("undo-invoice") ? "invoice 1 1" : "invoice 1 0");
        }
        assertThat(scene.schema().list(String.class, """
                SELECT t.step || ' ' || t.compensation_attempts FROM rowlock_saga_step t JOIN rowlock_saga s ON s.id = t.saga
                WHERE t.status = 'compensation_failed' AND s.driver IS NULL ORDER BY t.step
                """))
                .containsExactly("charge 8", "invoice 8", "pack 8", "reserve 8");
        assertThat(scene.schema()
                        .count("SELECT sum(n)::bigint FROM rowlock_alert WHERE cause = 'saga compensation failed'"))
                .isEqualTo(all.size());
        assertThat(scene.schema().count("SELECT count(*) FROM rowlock_job WHERE state = 'ready'"))
                .isZero();
    }

    @Test
    void the_process_is_killed_at_every_boundary() throws Exception {
        List<Scenario> forward = new ArrayList<>(atCalls("buy", Shop.BUY_STEPS));
        forward.addAll(atCommits("buy", 1, commitsOfCleanRun(Shop.BUY)));
        forward.addAll(atCalls("once", Shop.BUY_STEPS));
        List<String> backwardCalls = new ArrayList<>(List.of("hand-over"));
        backwardCalls.addAll(UNDOS);
        List<Scenario> backward = new ArrayList<>(atCalls("fail", backwardCalls));
        backward.addAll(atCommits("fail", 5, commitsOfCleanRun(Shop.FAIL)));

        List<Scenario> all = Stream.of(forward, backward).flatMap(List::stream).toList();
        for (Scenario each : all) {
            SagaEngine engine = Scene.engine(
                    scene.rowlock(), each.name(), shop(new Around() {}, TIMEOUT).all());
            scene.begin(engine, SagaType.named(each.type(), Purchase.class), Purchase.of(each.name(), ""));
        }
        ChildJvm first = launch(forward);
        ChildJvm second = launch(backward);
        assertThat(first.awaitExit(Scene.SOON)).isEqualTo(HaltingChild.HALTED);
        assertThat(second.awaitExit(Scene.SOON)).isEqualTo(HaltingChild.HALTED);

        SagaEngine survivor = engine(new Around() {}, TIMEOUT.multipliedBy(60));
        scene.start(survivor, scene.rowlock(), worker -> all.forEach(each -> worker.queue(each.name(), 1)));
        scene.awaitAll();

        assertThat(wrong(of(all, "buy"), "completed")).isEmpty();
        assertThat(wrong(of(all, "fail"), "compensated")).isEmpty();
        List<Purchase> once = of(all, "once");
        List<Purchase> late = once.stream()
                .filter(each -> each.id().endsWith("ship") || each.id().endsWith("thank"))
                .toList();
        once.removeAll(late);
        assertThat(wrong(late, "completed")).isEmpty();
        assertThat(wrong(once, "compensated")).isEmpty();
        assertBalanced(of(all, "buy").size() + late.size() + 1);
    }

    private ChildJvm launch(List<Scenario> scenarios) {
        return scene.launch(
                HaltingChild.class,
                jvm -> {},
                scenarios.stream().map(Scenario::name).toArray(String[]::new));
    }

    private static List<Scenario> atCalls(String type, List<String> calls) {
        return calls.stream()
                .flatMap(call -> Stream.of(
                        new Scenario(type, Point.BEFORE_CALL, call), new Scenario(type, Point.AFTER_CALL, call)))
                .toList();
    }

    private static List<Scenario> atCommits(String type, int from, int to) {
        assertThat(to).as("commits of a clean run").isGreaterThan(from);
        return Stream.iterate(from, n -> n <= to, n -> n + 1)
                .flatMap(n -> Stream.of(
                        new Scenario(type, Point.BEFORE_COMMIT, "" + n),
                        new Scenario(type, Point.AFTER_COMMIT, "" + n)))
                .toList();
    }

    private static List<Purchase> of(List<Scenario> all, String type) {
        return new ArrayList<>(all.stream()
                .filter(each -> each.type().equals(type))
                .map(each -> Purchase.of(each.name(), ""))
                .toList());
    }

    /** How many commits record something of a saga that nothing happens to. */
    private int commitsOfCleanRun(SagaType<Purchase> type) throws Exception {
        AtomicInteger commits = new AtomicInteger();
        Rowlock watched = Scene.rowlock(
                scene.schema(), new WatchedConnections(scene.schema()::connect, new WatchedConnections.Watch() {
                    @Override
                    public void afterCommit(Set<String> statements) {
                        commits.addAndGet(statements.contains(WatchedConnections.RECORD) ? 1 : 0);
                    }
                }));
        String id = "clean " + type.name();
        SagaEngine engine = Scene.engine(
                watched, id, shop(new Around() {}, TIMEOUT.multipliedBy(60)).all());
        scene.begin(engine, type, Purchase.of(id, ""));
        scene.start(engine, watched, worker -> worker.queue(id, 1));
        scene.awaitAll();
        Scene.patiently().until(() -> scene.status(id).startsWith("comp"));
        return commits.get();
    }

    private SagaEngine engine(Around around, Duration timeout) {
        return Scene.engine(scene.rowlock(), "default", shop(around, timeout).all());
    }

    private Shop shop(Around around, Duration timeout) {
        return new Shop(scene.books(), around, timeout);
    }

    /** The sagas that ended in another way, or of which the books tell another story. */
    private List<String> wrong(List<Purchase> sagas, String end) throws SQLException {
        assertThat(sagas).isNotEmpty();
        List<String> wrong = new ArrayList<>();
        for (Purchase each : sagas) {
            String saga = each.id();
            List<String> books = scene.books().of(saga);
            List<String> invoices = scene.invoices(saga);
            boolean right = end.equals("completed")
                    ? books.equals(List.of("reserve done", "charge done", "ship done", "thank done"))
                            && invoices.equals(List.of("invoice 1 0"))
                    : books.stream().noneMatch(entry -> entry.endsWith(" done"))
                            && (invoices.isEmpty() || invoices.equals(List.of("invoice 1 1")))
                            && reversed(saga);
            if (!right || !scene.status(saga).equals(end)) {
                wrong.add(saga + " is " + scene.status(saga) + " with " + books + " and " + invoices);
            }
        }
        return wrong;
    }

    /** Whether it was undone in the reverse order of doing, what was done in transactions included. */
    private boolean reversed(String saga) throws SQLException {
        String entries = """
                WITH entry AS (
                  SELECT step, done, undone FROM %1$s.deed WHERE saga = ? AND done IS NOT NULL
                  UNION ALL
                  SELECT step, min(turn) FILTER (WHERE NOT undo), min(turn) FILTER (WHERE undo) FROM invoice WHERE saga = ? GROUP BY step)
                SELECT step FROM entry ORDER BY %2$s
                """;
        List<String> done = scene.schema()
                .list(String.class, entries.formatted(scene.books().name(), "done"), saga, saga);
        List<String> undone = scene.schema()
                .list(String.class, entries.formatted(scene.books().name(), "undone"), saga, saga);
        Collections.reverse(undone);
        return done.equals(undone);
    }

    /** Money and stock add up: what was bought was reserved, paid and shipped, and nothing else is taken. */
    private void assertBalanced(int bought) throws SQLException {
        long amount = Purchase.of("", "").amount() * bought;
        for (String step : List.of("reserve", "charge", "ship", "thank")) {
            assertThat(scene.books().sum(step)).as(step).isEqualTo(amount);
        }
        assertThat(scene.books().sum("pack")).isZero();
        assertThat(scene.books().sum("hand-over")).isZero();
        assertThat(scene.books().severalKeys()).isEmpty();
    }
}
