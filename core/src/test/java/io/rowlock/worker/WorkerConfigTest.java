package io.rowlock.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobHandler;
import io.rowlock.job.JobKind;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.spi.TransactionRunner;
import io.rowlock.spi.WorkerExtension;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class WorkerConfigTest {
    @Kind("mail")
    private record Mail(int no) {}

    @Kind(value = "post", aliases = "mail")
    private record Post(int no) {}

    private record Nameless() {}

    private static final JobHandler<Mail> NOTHING = (mail, job) -> {};
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    void a_worker_that_says_nothing_serves_the_default_queue_with_the_documented_defaults() {
        WorkerSettings settings = new WorkerConfig().handle(Mail.class, NOTHING).settings();

        assertThat(settings.name()).isEqualTo("worker");
        assertThat(settings.queues()).isEqualTo(Map.of("default", 10));
        assertThat(settings.timing()).isEqualTo(new WorkerSettings.Timing(Duration.ofSeconds(60), SECOND));
        assertThat(settings.retention().completed()).isEqualTo(Duration.ofHours(24));
        assertThat(settings.executor()).isNull();
        HandlerSettings handler = settings.handlers().get(0).settings();
        assertThat(handler.retry().maxAttempts()).isEqualTo(50);
        assertThat(handler.timeout()).isNull();
        assertThat(handler.concurrency()).isNull();
        assertThat(handler.deathHook()).isNull();
    }

    @Test
    void a_worker_gets_what_was_set() {
        RetryPolicy policy = RetryPolicy.fixed(SECOND);
        WorkerSettings settings = new WorkerConfig()
                .name("night")
                .queue("a", 1)
                .queue("b", 10_000)
                .lease(SECOND)
                .poll(Duration.ofMillis(10))
                .keepCompleted(Duration.ZERO)
                .executor(Runnable::run)
                .handle(
                        Mail.class,
                        NOTHING,
                        h -> h.retry(policy).timeout(SECOND).concurrency(3).onDeath((c, j) -> {}))
                .settings();

        assertThat(settings.name()).isEqualTo("night");
        assertThat(settings.queues()).isEqualTo(Map.of("a", 1, "b", 10_000));
        assertThat(settings.timing()).isEqualTo(new WorkerSettings.Timing(SECOND, Duration.ofMillis(10)));
        assertThat(settings.retention().completed()).isEqualTo(Duration.ZERO);
        assertThat(settings.executor()).isNotNull();
        HandlerSettings handler = settings.handlers().get(0).settings();
        assertThat(handler.retry()).isEqualTo(policy);
        assertThat(handler.timeout()).isEqualTo(SECOND);
        assertThat(handler.concurrency()).isEqualTo(3);
        assertThat(handler.deathHook()).isNotNull();
    }

    private static final WorkerExtension NONE = new WorkerExtension() {};

    static Stream<Arguments> refusedWorkers() {
        TransactionRunner<Connection> runner = work -> {};
        return Stream.of(
                worker("at least one handler: call handle(...)", WorkerConfig::settings),
                worker("name must have 1 to 100 characters, got null", w -> w.name(null)),
                worker("name must have 1 to 100 characters", w -> w.name(" ")),
                worker("name must have 1 to 100 characters", w -> w.name("n".repeat(101))),
                worker("name is set twice", w -> w.name("a").name("a")),
                worker("queue must have 1 to 200 characters, got null", w -> w.queue(null, 1)),
                worker("queue must have 1 to 200 characters", w -> w.queue("", 1)),
                worker("queue must have 1 to 200 characters", w -> w.queue("q".repeat(201), 1)),
                worker("concurrency of queue a must be between 1 and 10000, got 0", w -> w.queue("a", 0)),
                worker("concurrency of queue a must be between 1 and 10000, got 10001", w -> w.queue("a", 10_001)),
                worker("Queue a is given twice", w -> w.queue("a", 1).queue("a", 2)),
                worker("lease must be between PT1S and PT1H, got PT0.999S", w -> w.lease(Duration.ofMillis(999))),
                worker("lease must be between PT1S and PT1H, got null", w -> w.lease(null)),
                worker("lease must be between", w -> w.lease(Duration.ofMinutes(61))),
                worker("lease is set twice", w -> w.lease(SECOND).lease(SECOND)),
                worker("poll must be between PT0.01S and PT1H, got PT0S", w -> w.poll(Duration.ZERO)),
                worker("poll is set twice", w -> w.poll(SECOND).poll(SECOND)),
                worker("keepCompleted must be between PT0S", w -> w.keepCompleted(SECOND.negated())),
                worker("keepCompleted must be between", w -> w.keepCompleted(Duration.ofDays(4_000))),
                worker(
                        "keepCompleted is set twice",
                        w -> w.keepCompleted(SECOND).keepCompleted(SECOND)),
                worker("executor must not be null", w -> w.executor(null)),
                worker("extension must not be null", w -> w.extension(null)),
                worker("An extension is given twice", w -> w.extension(NONE).extension(NONE)),
                worker("executor is set twice", w -> w.executor(Runnable::run).executor(Runnable::run)),
                worker("handler, runner or executor must not be null", w -> w.handle(Mail.class, null)),
                worker("must not be null", w -> w.handleTransactionally(Mail.class, null)),
                worker("has no kind: annotate it", w -> w.handle(Nameless.class, (n, j) -> {})),
                worker("payload type of a kind must not be null", w -> w.handle((Class<Mail>) null, NOTHING)),
                worker("kind of a handler must not be null", w -> w.handle((JobKind<Mail>) null, NOTHING)),
                worker("settings of a handler must not be null", w -> w.handle(Mail.class, NOTHING, null)),
                worker(
                        "must not be null",
                        w -> w.handleTransactionally(JobKind.of(Mail.class), null, (m, j, c) -> {}, h -> {})),
                worker(
                        "must not be null",
                        w -> w.handleTransactionally(JobKind.of(Mail.class), runner, null, h -> {})));
    }

    static Stream<Arguments> refusedHandlers() {
        return Stream.of(
                handler("retry must not be null", h -> h.retry(null)),
                handler(
                        "retry is set twice",
                        h -> h.retry(RetryPolicy.standard()).retry(RetryPolicy.standard())),
                handler("timeout must be between PT0.001S and PT168H, got PT0S", h -> h.timeout(Duration.ZERO)),
                handler("timeout must be between", h -> h.timeout(Duration.ofDays(8))),
                handler("timeout must be between PT0.001S and PT168H, got null", h -> h.timeout(null)),
                handler("timeout is set twice", h -> h.timeout(SECOND).timeout(SECOND)),
                handler("concurrency must be between 1 and 10000, got 0", h -> h.concurrency(0)),
                handler("concurrency must be between 1 and 10000, got 10001", h -> h.concurrency(10_001)),
                handler("concurrency is set twice", h -> h.concurrency(1).concurrency(1)),
                handler("onDeath must not be null", h -> h.onDeath(null)),
                handler("onDeath is set twice", h -> h.onDeath((c, j) -> {}).onDeath((c, j) -> {})));
    }

    private static Arguments upcasts(String message, int version, Consumer<HandlerConfig> setting) {
        return worker(message, w -> w.handle(JobKind.of(Mail.class).version(version), NOTHING, setting));
    }

    static Stream<Arguments> refusedUpcasts() {
        UnaryOperator<String> same = json -> json;
        return Stream.of(
                upcasts("The upcast from version 1 must not be null", 2, h -> h.upcast(1, null)),
                upcasts("has null for the class: give one", 2, h -> h.upcast(1, null, old -> old)),
                upcasts("has null for the function: give one", 2, h -> h.upcast(1, String.class, null)),
                upcasts("between 1 and the one before this, got 1", 1, h -> h.upcast(1, same)),
                upcasts(
                        "between 1 and the one before this, got 0",
                        3,
                        h -> h.upcast(0, same).upcast(2, same)),
                upcasts(
                        "two upcasts from version 1, keep one of them",
                        2,
                        h -> h.upcast(1, same).upcast(1, String.class, old -> old)),
                upcasts(
                        "there is no upcast from version 2, add it",
                        4,
                        h -> h.upcast(3, same).upcast(1, same)),
                upcasts(
                        "The upcasts of kind mail lead to no version 3: there is no upcast from version 2, add it",
                        3,
                        h -> h.upcast(1, same)),
                upcasts(
                        "got 7; there is no upcast from version 2, add it; there is no upcast from version 3, add it",
                        4,
                        h -> h.upcast(1, same).upcast(7, same)));
    }

    @Test
    void upcasts_need_not_begin_with_the_first_version() {
        WorkerSettings settings = new WorkerConfig()
                .handle(
                        JobKind.of(Mail.class).version(4),
                        NOTHING,
                        h -> h.upcast(3, json -> json).upcast(2, json -> json))
                .settings();

        assertThat(settings.handlers().get(0).settings().upcasts())
                .extracting(PayloadUpcast::fromVersion)
                .containsExactly(2, 3);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource({"refusedWorkers", "refusedHandlers", "refusedUpcasts"})
    void a_wrong_setting_is_refused_with_a_message_that_says_what_is_wrong(
            String message, Consumer<WorkerConfig> setting) {
        WorkerConfig config = new WorkerConfig();

        assertThatThrownBy(() -> setting.accept(config))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining(message);
    }

    @Test
    void a_kind_has_one_handler_in_a_worker_whatever_alias_it_goes_by() {
        WorkerConfig config = new WorkerConfig().handle(Mail.class, NOTHING);

        assertThatThrownBy(() -> config.handle(Mail.class, NOTHING))
                .hasMessage("Kind mail has two handlers in one worker");
        assertThatThrownBy(() -> config.handle(Post.class, (post, job) -> {}))
                .hasMessage("Kind mail has two handlers in one worker");
    }

    @Test
    void handlers_keep_the_order_they_were_given_in() {
        List<HandlerBinding<?>> handlers = new WorkerConfig()
                .handle(JobKind.named("c", String.class), (text, job) -> {})
                .handle(JobKind.named("a", String.class), (text, job) -> {})
                .handle(JobKind.named("b", String.class), (text, job) -> {})
                .settings()
                .handlers();

        assertThat(handlers).extracting(binding -> binding.kind().name()).containsExactly("c", "a", "b");
    }

    @Test
    void every_contract_takes_a_class_or_a_kind_with_settings_or_without() {
        JobKind<Mail> kind = JobKind.of(Mail.class);
        TransactionRunner<Connection> runner = work -> {};
        Consumer<HandlerConfig> settings = h -> h.concurrency(3);
        List<Consumer<WorkerConfig>> plain = List.of(
                w -> w.handle(Mail.class, (mail, job) -> {}),
                w -> w.handle(kind, (mail, job) -> {}),
                w -> w.handleTransactionally(Mail.class, (mail, job, connection) -> {}),
                w -> w.handleTransactionally(kind, (mail, job, connection) -> {}),
                w -> w.handleTransactionally(Mail.class, runner, (mail, job, resource) -> {}),
                w -> w.handleTransactionally(kind, runner, (mail, job, resource) -> {}));
        List<Consumer<WorkerConfig>> set = List.of(
                w -> w.handle(Mail.class, (mail, job) -> {}, settings),
                w -> w.handle(kind, (mail, job) -> {}, settings),
                w -> w.handleTransactionally(Mail.class, (mail, job, connection) -> {}, h -> h.concurrency(3)),
                w -> w.handleTransactionally(kind, (mail, job, connection) -> {}, h -> h.concurrency(3)),
                w -> w.handleTransactionally(Mail.class, runner, (mail, job, resource) -> {}, settings),
                w -> w.handleTransactionally(kind, runner, (mail, job, resource) -> {}, settings));
        List<String> contracts =
                List.of("Leased", "Leased", "TransactionalJdbc", "TransactionalJdbc", "Transactional", "Transactional");

        assertThat(plain.stream().map(WorkerConfigTest::contract).toList()).isEqualTo(contracts);
        assertThat(set.stream().map(WorkerConfigTest::contract).toList()).isEqualTo(contracts);
        assertThat(plain).allSatisfy(each -> assertThat(concurrency(each)).isNull());
        assertThat(set).allSatisfy(each -> assertThat(concurrency(each)).isEqualTo(3));
    }

    private static String contract(Consumer<WorkerConfig> handler) {
        return binding(handler).contract().getClass().getSimpleName();
    }

    private static Integer concurrency(Consumer<WorkerConfig> handler) {
        return binding(handler).settings().concurrency();
    }

    private static HandlerBinding<?> binding(Consumer<WorkerConfig> handler) {
        WorkerConfig config = new WorkerConfig();
        handler.accept(config);
        return config.settings().handlers().get(0);
    }

    private static Arguments worker(String message, Consumer<WorkerConfig> setting) {
        return Arguments.of(message, setting);
    }

    private static Arguments handler(String message, Consumer<HandlerConfig> setting) {
        Consumer<WorkerConfig> worker = config -> config.handle(Mail.class, NOTHING, setting);
        return Arguments.of(message, worker);
    }
}
