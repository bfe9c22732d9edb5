package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.Rowlock;
import io.rowlock.checkup.Finding;
import io.rowlock.checkup.Severity;
import io.rowlock.internal.checkup.Symptom;
import io.rowlock.testkit.postgres.PostgresTest;
import io.rowlock.testkit.postgres.TestSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@PostgresTest
class CheckupIT {
    private static final Logger log = LoggerFactory.getLogger(CheckupIT.class);
    private static final Path PAGE = Path.of("guide/checkup.md");

    @Test
    void findings_are_logged(TestSchema schema) throws SQLException {
        Rowlock rowlock = Rowlock.builder()
                .dataSource(schema.dataSource())
                .schema(schema.name())
                .build();
        rowlock.schema().install();
        schema.execute("DROP INDEX rowlock_job_due");
        List<Finding> all = new ArrayList<>();
        // tag::checkup
        for (Finding finding : rowlock.checkup()) {
            if (finding.severity() != Severity.REMARK) {
                log.warn("{}: {} {}", finding.code(), finding.seen(), finding.remedy());
            }
            all.add(finding);
        }
        // end::checkup
        assertThat(all).extracting(Finding::code).contains("index-missing");
    }

    @Test
    void the_page_has_every_finding() throws IOException {
        StringBuilder table =
                new StringBuilder("<!-- codes -->\n| code | severity | why it matters |\n|---|---|---|\n");
        for (Symptom each : Symptom.values()) {
            table.append("| `" + each.code() + "` | `" + each.severity() + "` | " + each.matters() + " |\n");
        }
        String page = Files.readString(PAGE);
        String renewed = page.substring(0, page.indexOf("<!-- codes -->"))
                + table
                + page.substring(page.indexOf("<!-- end codes -->"));
        if (Boolean.getBoolean("guide.write")) {
            Files.writeString(PAGE, renewed);
        }
        assertThat(Files.readString(PAGE)).as("run with -Dguide.write=true").isEqualTo(renewed);
    }
}
