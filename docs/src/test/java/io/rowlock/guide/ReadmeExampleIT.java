package io.rowlock.guide;

import static io.rowlock.testkit.RowlockAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.guide.ReadmeExample.OrderConfirmation;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The README's program, run as it stands there: in the schema public of a server of its own. */
class ReadmeExampleIT {
    @Test
    void the_program_in_the_readme_sends_one_confirmation() throws InterruptedException {
        PrintStream out = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (OwnPostgres postgres = TestPostgres.embedded(options -> {})) {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            String url = postgres.url();
            ReadmeExample.main(new String[] {url + (url.contains("?") ? "&" : "?") + "user=" + postgres.user()});
            Rowlock rowlock =
                    Rowlock.builder().dataSource(postgres.dataSource()).build();
            assertThat(rowlock.jobs()).hasOne(OrderConfirmation.class).isCompleted();
        } finally {
            System.setOut(out);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8)).contains("To ada@example.org, key ");
    }
}
