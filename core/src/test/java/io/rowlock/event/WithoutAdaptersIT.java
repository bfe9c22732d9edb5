package io.rowlock.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.job.JobKind;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.worker.HandCrankedWorker;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.sql.Connection;
import java.util.Arrays;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Core as most applications have it: with neither Micrometer nor OpenTelemetry on the class path. */
@PostgresTest
final class WithoutAdaptersIT {
    private static URL url(String entry) {
        try {
            return new File(entry).toURI().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean optional(String entry) {
        String name = new File(entry).getName();
        return name.startsWith("micrometer-") || name.startsWith("opentelemetry-") || name.startsWith("prometheus-");
    }

    @Test
    void jobs_are_written_and_done_where_neither_is_there(TestSchema schema) throws Exception {
        String[] entries = System.getProperty("java.class.path").split(File.pathSeparator);
        assertThat(entries).anyMatch(WithoutAdaptersIT::optional);
        URL[] others = Arrays.stream(entries)
                .filter(entry -> !optional(entry))
                .map(WithoutAdaptersIT::url)
                .toArray(URL[]::new);
        try (URLClassLoader without = new URLClassLoader(others, ClassLoader.getPlatformClassLoader())) {
            assertThatThrownBy(() -> without.loadClass("io.micrometer.core.instrument.MeterRegistry"))
                    .isInstanceOf(ClassNotFoundException.class);
            assertThatThrownBy(() -> without.loadClass("io.opentelemetry.context.Context"))
                    .isInstanceOf(ClassNotFoundException.class);
            Class<?> basics = without.loadClass(Basics.class.getName());
            assertThat(basics).isNotSameAs(Basics.class);
            @SuppressWarnings("unchecked")
            ToIntFunction<String[]> run =
                    (ToIntFunction<String[]>) basics.getDeclaredConstructor().newInstance();

            assertThat(run.applyAsInt(new String[] {schema.url(), schema.user(), schema.password(), schema.name()}))
                    .isEqualTo(1);
        }
    }

    /** Run by the other class loader: installs, writes a job, does it. */
    public static final class Basics implements ToIntFunction<String[]> {
        @Override
        public int applyAsInt(String[] database) {
            PGSimpleDataSource source = new PGSimpleDataSource();
            source.setURL(database[0]);
            source.setUser(database[1]);
            source.setPassword(database[2]);
            Rowlock rowlock = Rowlock.builder()
                    .dataSource(source)
                    .schema(database[3])
                    .listener(event -> {})
                    .interceptor((job, handler) -> handler.proceed())
                    .build();
            rowlock.schema().install();
            JobKind<String> kind = JobKind.named("text", String.class);
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                rowlock.outbox().enqueue(connection, kind, "a", job -> {});
                connection.commit();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            try (HandCrankedWorker worker =
                    rowlock.handCrankedWorker(config -> config.handle(kind, (text, job) -> {}))) {
                return worker.drain();
            }
        }
    }
}
