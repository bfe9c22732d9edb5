package io.rowlock.checkup;

import static io.rowlock.fixture.TestRowlock.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.checkup.Faults.Fault;
import io.rowlock.checkup.Faults.Sick;
import io.rowlock.internal.checkup.Symptom;
import io.rowlock.internal.schema.SqlText;
import io.rowlock.testkit.postgres.OwnPostgres;
import io.rowlock.testkit.postgres.TestPostgres;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever SQL a checkup gives as a remedy is typed as it stands, and the finding is gone. */
final class RemedyIT {
    private static final OwnPostgres SERVER =
            TestPostgres.embedded(o -> o.durable().setting("max_prepared_transactions", "5"));
    private static final List<String> SHAPES = List.of("tables-missing", "tables-differ", "index-missing");

    private Faults faults;

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @BeforeEach
    void install() throws Exception {
        faults = new Faults(SERVER, new Checked(SERVER));
    }

    @AfterEach
    void drop() throws Exception {
        faults.undo();
        faults.checked.close();
    }

    static Stream<Fault> faults() {
        return Faults.all().stream();
    }

    @Test
    void every_symptom_is_provoked_or_has_a_reason_why_its_remedy_cannot_be_typed() {
        Set<Symptom> provoked = EnumSet.noneOf(Symptom.class);
        faults().forEach(each -> provoked.add(each.symptom()));

        assertThat(provoked).doesNotContainAnyElementsOf(Faults.WITHOUT.keySet());
        provoked.addAll(Faults.WITHOUT.keySet());
        assertThat(provoked).containsExactly(Symptom.values());
    }

    @ParameterizedTest
    @MethodSource("faults")
    @Tag("B54")
    @Tag("B58")
    void a_remedy_works_as_it_is_typed(Fault fault) throws Exception {
        String code = fault.symptom().code();
        Sick sick = fault.provoked().in(faults);
        List<Finding> before = new ArrayList<>();
        soon().untilAsserted(() -> {
            before.clear();
            before.addAll(sick.look().call());
            assertThat(before).extracting(Finding::code).contains(code);
        });
        assertThat(before).extracting(Finding::remedy).noneMatch(remedy -> remedy.contains("..."));

        type(before, code, sick);
        if (fault.symptom() == Symptom.TABLES_MISSING) {
            type(sick.look().call(), code, sick); // the versions first
        }

        soon().untilAsserted(() -> assertThat(sick.look().call())
                .filteredOn(each -> concerns(each, code))
                .isEmpty());
    }

    /** Of shapes one hangs on another: the index of a column that is gone. */
    private static boolean concerns(Finding finding, String code) {
        return finding.code().equals(code) || (SHAPES.contains(code) && SHAPES.contains(finding.code()));
    }

    private static void type(List<Finding> findings, String code, Sick sick) throws Exception {
        for (Finding each : findings) {
            if (concerns(each, code)) {
                try (Connection psql = sick.psql().call();
                        var statement = psql.createStatement()) {
                    for (String one : SqlText.statements(each.remedy())) {
                        statement.execute(one);
                    }
                }
            }
        }
    }
}
