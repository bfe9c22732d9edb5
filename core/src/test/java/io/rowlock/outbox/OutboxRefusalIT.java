package io.rowlock.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.annotation.JsonRawValue;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.RowlockException;
import io.rowlock.fixture.TestRowlock;
import io.rowlock.fixture.Watched;
import io.rowlock.job.Enqueued;
import io.rowlock.job.JobKind;
import io.rowlock.job.JobOptions;
import io.rowlock.job.JobRequest;
import io.rowlock.job.Kind;
import io.rowlock.job.Outbox;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refused is refused before any SQL, so that the caller's transaction goes on. */
@PostgresTest
@Tag("P15")
final class OutboxRefusalIT {
    @Kind("mail")
    private record Mail(Object content) {}

    @Kind("mail")
    private record OtherMail(Object content) {}

    @Kind(" ")
    private record BlankKind(int no) {}

    @Kind("raw")
    private record Raw(@JsonRawValue String text) {}

    private record Nameless(int no) {}

    @Kind("node")
    record Node(List<Object> next) {
        static Node cycle() {
            List<Object> next = new ArrayList<>();
            next.add(new Node(next));
            return new Node(next);
        }
    }

    @Kind("hidden")
    static final class Hidden {
        @SuppressWarnings("unused")
        private final int no = 7;
    }

    /** A list that cannot be read. */
    static final class Throwing extends AbstractList<Object> {
        @Override
        public Object get(int index) {
            throw new IllegalStateException("no text today");
        }

        @Override
        public int size() {
            return 1;
        }
    }

    private TestRowlock rowlock;
    private TestSchema schema;
    private Outbox outbox;

    @BeforeEach
    void install(TestSchema schema) throws Exception {
        this.schema = schema;
        rowlock = TestRowlock.fresh(schema);
        outbox = rowlock.rowlock().outbox();
        schema.execute("DROP TABLE IF EXISTS orders; CREATE TABLE orders (id bigint PRIMARY KEY)");
    }

    static Stream<Arguments> refusedJobs() {
        Mail mail = new Mail(1);
        return Stream.of(
                refusal("payload of a job must not be null", (o, c) -> o.enqueue(c, null)),
                refusal("options of a job must not be null", (o, c) -> o.enqueue(c, mail, null)),
                refusal(
                        "options of a job must not be null",
                        (o, c) -> o.enqueue(c, JobKind.of(Mail.class), mail, null)),
                refusal("has no kind: annotate it", (o, c) -> o.enqueue(c, new Nameless(1))),
                refusal("kind must not be blank", (o, c) -> o.enqueue(c, new BlankKind(1))),
                refusal("stands for two payload types", (o, c) -> {
                    o.enqueueAll(c, List.of(JobRequest.of(mail), JobRequest.of(new OtherMail(1))));
                }),
                refusal("payload of kind node could not be written as JSON", (o, c) -> o.enqueue(c, Node.cycle())),
                refusal("no text today", (o, c) -> o.enqueue(c, new Mail(new Throwing()))),
                refusal("payload of kind mail could not be written", (o, c) -> o.enqueue(c, new Mail(new Object()))),
                refusal("would be written as {}", (o, c) -> o.enqueue(c, new Hidden())),
                refusal("could not be written as JSON", (o, c) -> o.enqueue(c, new Mail(Map.of("a\uD83D", 1)))),
                refusal("payload of kind raw could not be written", (o, c) -> o.enqueue(c, new Raw("{not json"))),
                refusal("payload of kind raw could not be written", (o, c) -> o.enqueue(c, new Raw("1, \"b\": }"))),
                refusal(
                        "more than the limit of 2097152; store the data in a table",
                        (o, c) -> o.enqueue(c, new Mail("x".repeat(2 << 20)))),
                refusal("more than the limit", (o, c) -> o.enqueue(c, new Mail("\u00e4".repeat(1_100_000)))),
                refusal("needs a connection and a list of jobs, got null", (o, c) -> o.enqueueAll(c, null)),
                refusal("must not be null", (o, c) -> o.enqueueAll(c, Arrays.asList(JobRequest.of(mail), null))),
                refusal(
                        "kind must have at most 200 characters",
                        (o, c) -> o.enqueue(c, JobKind.named("k".repeat(201), Mail.class), mail, x -> {})));
    }

    static Stream<Arguments> refusedOptions() {
        return Stream.of(
                option("subject must have at most 200 characters", o -> o.subject("s".repeat(201))),
                option("subject must have no control characters", o -> o.subject("a\0")),
                option("after must be between 0 and 100 years", o -> o.after(Duration.ofNanos(-1))),
                option("at must be an instant up to", o -> o.at(Instant.MAX)),
                option("queue must not be blank", o -> o.queue("")),
                option("maxAttempts must be between", o -> o.maxAttempts(0)),
                option("limitKey must not be blank", o -> o.limitKey(" ")),
                option(
                        "more than the limit of 8192; put the data into the payload",
                        o -> o.header("h", "x".repeat(8_200))),
                option("queue is set twice", o -> o.queue("a").queue("b")),
                option("the lambda's own", o -> {
                    throw new InvalidUseException("the lambda's own");
                }));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource({"refusedJobs", "refusedOptions"})
    void what_cannot_be_written_is_refused_before_any_sql(String message, BiConsumer<Outbox, Connection> enqueue)
            throws Exception {
        try (Connection connection = schema.begin()) {
            order(connection, 1);
            Watched watched = Watched.over(connection);

            Throwable refused = catchThrowable(() -> enqueue.accept(outbox, watched.connection()));

            assertThat(refused).isInstanceOf(RowlockException.class).hasMessageContaining(message);
            assertThat(watched.statements()).isEmpty();
            order(connection, 2);
            connection.commit();
        }
        assertThat(orders()).isEqualTo(2);
        assertThat(jobs()).isZero();
    }

    @Test
    void one_bad_job_of_a_batch_refuses_the_whole_batch() throws Exception {
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> outbox.enqueueAll(
                            connection,
                            List.of(
                                    JobRequest.of(new Mail(1)),
                                    JobRequest.of(new Mail(2)),
                                    JobRequest.of(Node.cycle()))))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("kind node");
            order(connection, 1);
            connection.commit();
        }
        assertThat(jobs()).isZero();
        assertThat(orders()).isEqualTo(1);
    }

    @Test
    void a_connection_in_autocommit_is_refused_and_stays_usable() throws Exception {
        try (Connection connection = schema.connect()) {
            Watched watched = Watched.over(connection);

            assertThatThrownBy(() -> outbox.enqueue(watched.connection(), new Mail(1)))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("without a transaction: the connection is in autocommit mode");

            assertThat(watched.statements()).isEmpty();
            order(connection, 1);
        }
        assertThat(jobs()).isZero();
    }

    @Test
    void a_read_only_connection_is_refused_and_stays_usable() throws Exception {
        try (Connection connection = schema.connect()) {
            connection.setReadOnly(true);
            connection.setAutoCommit(false);
            connection.createStatement().executeQuery("SELECT 1");
            Watched watched = Watched.over(connection);

            assertThatThrownBy(() -> outbox.enqueue(watched.connection(), new Mail(1)))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("on a read-only connection");

            assertThat(watched.statements()).isEmpty();
            connection.createStatement().executeQuery("SELECT 1");
            connection.commit();
        }
    }

    @Test
    void a_closed_connection_and_none_are_refused() throws Exception {
        Connection connection = schema.begin();
        connection.close();

        assertThatThrownBy(() -> outbox.enqueue(connection, new Mail(1)))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("closed connection");
        assertThatThrownBy(() -> outbox.enqueue(null, new Mail(1)))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("got null");
    }

    @Test
    @Tag("B55")
    void the_limit_of_a_payload_is_the_applications_to_set() throws Exception {
        TestRowlock strict = TestRowlock.fresh(schema, builder -> builder.maxPayloadBytes(22));

        long id = strict.enqueue(new Mail("12345678")).id();

        assertThat(strict.content(id).payload()).hasSize(22);
        assertThatThrownBy(() -> strict.enqueue(new Mail("123456789")))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("has 23 bytes as JSON, more than the limit of 22");
    }

    @ParameterizedTest
    @ValueSource(ints = {1 << 10, 3 << 10, 9 << 10, 1 << 20})
    @Tag("B55")
    void payloads_beyond_the_limits_of_indexes_and_notifications_are_no_problem(int characters) throws Exception {
        TestRowlock telling = TestRowlock.fresh(schema, builder -> builder.notifications(true));
        Random random = new Random(characters);
        String text = random.ints(characters, 'a', 'z' + 1)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();

        Enqueued job = telling.enqueue(
                new Mail(text),
                o -> o.subject("s".repeat(200)).dedupKey("k".repeat(200)).orderingKey("\u00e4".repeat(200)));
        telling.rowlock().wake(List.of(job));

        assertThat(telling.content(job.id()).payload()).hasSize(characters + 14);
    }

    @Test
    @Tag("B55")
    void fifty_megabytes_and_keys_that_no_index_takes_are_refused_early_in_words() throws Exception {
        try (Connection connection = schema.begin()) {
            assertThatThrownBy(() -> outbox.enqueue(connection, new Mail("x".repeat(50 << 20))))
                    .isInstanceOf(InvalidUseException.class)
                    .hasMessageContaining("has 52428814 bytes as JSON, more than the limit of 2097152")
                    .hasMessageContaining("store the data in a table");
            for (Consumer<JobOptions> key : List.<Consumer<JobOptions>>of(
                    o -> o.dedupKey("k".repeat(4 << 10)),
                    o -> o.orderingKey("k".repeat(300)),
                    o -> o.limitKey("k".repeat(300)),
                    o -> o.queue("k".repeat(300)),
                    o -> o.subject("k".repeat(300)))) {
                assertThatThrownBy(() -> outbox.enqueue(connection, new Mail(1), key))
                        .isInstanceOf(InvalidUseException.class)
                        .hasMessageContaining("must have at most 200 characters")
                        .hasMessageContaining("use a hash of the long text");
            }
            order(connection, 1);
            connection.commit();
        }
        assertThat(jobs()).isZero();
        assertThat(orders()).isEqualTo(1);
    }

    private long jobs() throws SQLException {
        return schema.count("SELECT count(*) FROM rowlock_job");
    }

    private long orders() throws SQLException {
        return schema.count("SELECT count(*) FROM orders");
    }

    private static void order(Connection connection, int id) throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO orders (id) VALUES (?)")) {
            insert.setInt(1, id);
            insert.executeUpdate();
        }
    }

    private static Arguments refusal(String message, BiConsumer<Outbox, Connection> enqueue) {
        return Arguments.of(message, enqueue);
    }

    private static Arguments option(String message, Consumer<JobOptions> options) {
        return refusal(message, (outbox, connection) -> outbox.enqueue(connection, new Mail(1), options));
    }
}
