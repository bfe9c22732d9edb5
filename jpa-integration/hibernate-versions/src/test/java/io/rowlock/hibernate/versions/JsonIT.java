package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import io.rowlock.testkit.providers.ProviderUnit;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.hibernate.annotations.JdbcTypeCode;
import org.hibernate.type.SqlTypes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** JSON attributes are compared as JSON. */
@Corner("Hibernate's own mappings")
@Tag("B35")
final class JsonIT extends ProviderTest {
    /** Its equals lies: two of one name are equal. */
    public static class Profile {
        public String name = "a";
        public int level;

        @Override
        public boolean equals(Object other) {
            return other instanceof Profile profile && profile.name.equals(name);
        }

        @Override
        public int hashCode() {
            return name.hashCode();
        }
    }

    @Entity(name = "Player")
    @Table(name = "player")
    @OutboxJob(kind = "any", on = Change.UPDATE)
    @OutboxJob(kind = "profile", on = Change.UPDATE, changed = "profile")
    @OutboxJob(kind = "scores", on = Change.UPDATE, changed = "scores")
    static class Player {
        @Id
        int id;

        String nick;

        @JdbcTypeCode(SqlTypes.JSON)
        Profile profile = new Profile();

        @JdbcTypeCode(SqlTypes.JSON)
        Map<String, Object> scores = new LinkedHashMap<>(Map.of("x", 1));

        @JdbcTypeCode(SqlTypes.JSON)
        Rate rate = new Rate("1234567890123456.78");

        @JdbcTypeCode(SqlTypes.JSON)
        Map<String, BigDecimal> shares = new LinkedHashMap<>();

        @ElementCollection
        @JdbcTypeCode(SqlTypes.JSON)
        List<Rate> rates = new ArrayList<>(List.of(new Rate("1234567890123456.78")));
    }

    /** Its number is beyond what a double can tell apart. */
    public static class Rate {
        public BigDecimal value;

        public Rate() {}

        Rate(String value) {
            this.value = new BigDecimal(value);
        }
    }

    @Entity(name = "Keyed")
    @OutboxJob(kind = "keyed", on = Change.UPDATE, orderedBy = "scores")
    static class Keyed {
        @Id
        int id;

        @JdbcTypeCode(SqlTypes.JSON)
        Map<String, Object> scores;
    }

    JsonIT(TestSchema schema) {
        super(schema, Player.class);
    }

    @BeforeEach
    void fill() throws Exception {
        unit.commit(em -> em.persist(new Player()));
        forgetJobs();
    }

    private List<String> kindsBy(Consumer<Player> work) throws Exception {
        forgetJobs();
        unit.commit(em -> work.accept(em.find(Player.class, 0)));
        return kinds();
    }

    @Test
    @Corner("a JSON attribute whose equals lies: a job if its row was updated")
    void lying_equals() throws Exception {
        assertThat(kindsBy(player -> {
                    player.nick = "new";
                    player.profile.level = 7;
                }))
                .containsExactly("any", "profile");
        assertThat(schema.count("SELECT count(*) FROM player WHERE profile->>'level' = '7'"))
                .isEqualTo(1);
    }

    @Test
    @Corner("a JSON attribute with its parts in another order: no job, with others: UPDATE")
    void order() throws Exception {
        assertThat(kindsBy(player -> player.scores = scores("x", 1, "y", 2))).containsExactly("any", "scores");
        assertThat(kindsBy(player -> {
                    player.nick = "other";
                    player.scores = scores("y", 2L, "x", 1L);
                }))
                .containsExactly("any");
    }

    private static Map<String, Object> scores(String one, Object first, String other, Object second) {
        Map<String, Object> scores = new LinkedHashMap<>();
        scores.put(one, first);
        scores.put(other, second);
        return scores;
    }

    @Test
    @Corner("a JSON attribute with a number beyond a double: UPDATE by its last digit, no job by its form")
    void numbers() throws Exception {
        assertThat(kindsBy(player -> player.rate = new Rate("1234567890123456.79"))).containsExactly("any");
        assertThat(kindsBy(player -> player.rate = new Rate("1234567890123456.790"))).isEmpty();
        assertThat(kindsBy(player -> player.rates.set(0, new Rate("1234567890123456.79")))).containsExactly("any");
        assertThat(kindsBy(player -> player.shares.put("a", new BigDecimal("0.12345678901234567891"))))
                .containsExactly("any");
        assertThat(kindsBy(player -> player.shares.put("a", new BigDecimal("0.12345678901234567892"))))
                .containsExactly("any");
    }

    @Test
    @Corner("`orderedBy` or `subject` by JSON: refused at the start")
    void key() {
        try (ProviderUnit refused = ProviderUnit.on(schema, Keyed.class)) {
            assertThatThrownBy(refused::factory).hasStackTraceContaining("names scores, which is stored as no text");
        }
    }
}
