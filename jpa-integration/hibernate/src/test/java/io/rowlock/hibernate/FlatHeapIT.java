package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.testkit.postgres.ChildJvm;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A session may save any number of annotated entities in one transaction. */
@PostgresTest
final class FlatHeapIT {
    private static final Pattern REPORT = Pattern.compile("saved=(\\d+) used=(\\d+) statements=(\\d+)");

    @Test
    @Tag("P9")
    void two_hundred_thousand_entities_in_one_transaction_leave_the_heap_of_a_small_jvm_flat(TestSchema schema)
            throws Exception {
        TestUnit.install(schema);
        List<long[]> reports;
        try (ChildJvm child = ChildJvm.start(
                SavingMain.class,
                options -> options.jvmArguments("-Xmx128m")
                        .arguments(schema.url(), schema.user(), schema.password(), schema.name()))) {
            assertThat(child.awaitExit(Duration.ofMinutes(4)))
                    .as(String.join("\n", child.lines()))
                    .isZero();
            reports = child.lines().stream()
                    .map(REPORT::matcher)
                    .filter(Matcher::matches)
                    .map(line -> new long[] {
                        Long.parseLong(line.group(1)), Long.parseLong(line.group(2)), Long.parseLong(line.group(3))
                    })
                    .toList();
        }
        assertThat(schema.count("SELECT count(*) FROM rowlock_job")).isEqualTo(SavingMain.ENTITIES);
        assertThat(reports).hasSize(8);
        reports.forEach(each -> System.out.printf(
                "saved %,d: %,d KiB used after GC, %,d statements%n", each[0], each[1] >> 10, each[2]));
        long secondQuarter = Math.max(reports.get(2)[1], reports.get(3)[1]);
        long lastQuarter = Math.max(reports.get(6)[1], reports.get(7)[1]);
        assertThat(lastQuarter).as("bytes used at the end").isLessThan(secondQuarter * 3 / 2);
        assertThat(reports.get(7)[2])
                .as("statements: for each flush of 50, one of the sequence, one of the entities, one of the jobs")
                .isLessThan(SavingMain.ENTITIES / 50 * 4);
    }
}
