package io.rowlock.event.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.rowlock.Rowlock;
import io.rowlock.event.RowlockEvent.ClockCompared;
import io.rowlock.event.RowlockEvent.JobCompleted;
import io.rowlock.event.RowlockEvent.LoopFailed;
import io.rowlock.event.RowlockEvent.NotificationFailed;
import io.rowlock.event.RowlockEvent.ScheduleFired;
import io.rowlock.event.RowlockEvent.WorkerStarted;
import io.rowlock.job.JobKind;
import io.rowlock.worker.Worker;
import java.io.File;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The dashboard asks Prometheus for what the meters are called there, and for nothing else. */
final class DashboardTest {
    private static final File DASHBOARD = new File("../docs/grafana/rowlock.json");
    private static final Pattern ASKED = Pattern.compile("(rowlock_\\w+)(?:\\{([^}]*)\\})?");
    private static final Pattern SCRAPED = Pattern.compile("(?m)^(rowlock_\\w+)\\{([^}]*)\\}");
    private static final Pattern LABEL = Pattern.compile("(\\w+)\\s*=~?\\s*\"([^\"]*)\"");
    private static final Pattern SHOWN = Pattern.compile("\\{\\{(\\w+)\\}\\}");

    /** Prometheus gives every time series these two. */
    private static final Set<String> OF_PROMETHEUS = Set.of("job", "instance");

    private final Map<String, Set<String>> labels = new TreeMap<>();
    private final Set<String> values = new HashSet<>();

    @BeforeEach
    void scrape() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        RowlockMetrics metrics = new RowlockMetrics(registry);
        metrics.on(new JobCompleted(1, "default", "mail", 1));
        metrics.on(new LoopFailed("w", "claimer", 1, new IllegalStateException()));
        metrics.on(new NotificationFailed(new IllegalStateException()));
        metrics.on(new ScheduleFired("daily", List.of()));
        metrics.on(new WorkerStarted("w"));
        metrics.on(new ClockCompared("w", Duration.ofMillis(3), Duration.ofMillis(1)));
        Worker worker = Rowlock.builder()
                .connections(() -> {
                    throw new SQLException("nobody there", "08001");
                })
                .build()
                .worker(w -> w.handle(JobKind.named("mail", String.class), (text, job) -> {}));
        new WorkerMetrics("mailer", worker).bindTo(registry);
        Matcher line = SCRAPED.matcher(registry.scrape());
        while (line.find()) {
            Set<String> known = labels.computeIfAbsent(line.group(1), name -> new TreeSet<>(OF_PROMETHEUS));
            Matcher label = LABEL.matcher(line.group(2));
            while (label.find()) {
                known.add(label.group(1));
                values.add(label.group(1) + '=' + label.group(2));
            }
        }
        registry.scrape()
                .lines()
                .filter(each -> each.matches("rowlock_\\w+ .*"))
                .forEach(each -> labels.computeIfAbsent(
                        each.substring(0, each.indexOf(' ')), name -> new TreeSet<>(OF_PROMETHEUS)));
    }

    private static JsonNode dashboard() throws IOException {
        return new ObjectMapper().readTree(DASHBOARD);
    }

    @Test
    void every_metric_and_label_it_asks_for_is_one_of_the_meters() throws Exception {
        Set<String> asked = new TreeSet<>();
        JsonNode dashboard = dashboard();
        for (JsonNode panel : dashboard.get("panels")) {
            for (JsonNode target : panel.get("targets")) {
                Set<String> known = check(target.get("expr").asText(), asked);
                Matcher shown = SHOWN.matcher(target.get("legendFormat").asText());
                while (shown.find()) {
                    assertThat(known).contains(shown.group(1));
                }
            }
        }
        for (JsonNode variable : dashboard.get("templating").get("list")) {
            if (variable.get("type").asText().equals("query")) {
                check(variable.get("definition").asText(), asked);
            }
        }
        Set<String> unused = new TreeSet<>(labels.keySet());
        unused.removeAll(asked);
        assertThat(unused).as("meters that the dashboard shows nothing of").isEmpty();
    }

    private Set<String> check(String expression, Set<String> asked) {
        Set<String> known = new TreeSet<>();
        Matcher metric = ASKED.matcher(expression);
        while (metric.find()) {
            String name = metric.group(1);
            assertThat(labels).as(expression).containsKey(name);
            asked.add(name);
            known.addAll(labels.get(name));
            Matcher label = LABEL.matcher(metric.group(2) == null ? "" : metric.group(2));
            while (label.find()) {
                assertThat(labels.get(name)).as(expression).contains(label.group(1));
                if (!label.group(2).startsWith("$")) {
                    assertThat(values).contains(label.group(1) + '=' + label.group(2));
                }
            }
        }
        assertThat(asked).isNotEmpty();
        return known;
    }

    @Test
    void panels_have_ids_of_their_own_and_lie_beside_each_other() throws Exception {
        Set<Integer> ids = new HashSet<>();
        Set<String> places = new HashSet<>();
        for (JsonNode panel : dashboard().get("panels")) {
            assertThat(ids.add(panel.get("id").asInt())).isTrue();
            JsonNode place = panel.get("gridPos");
            assertThat(place.get("x").asInt() + place.get("w").asInt()).isLessThanOrEqualTo(24);
            assertThat(places.add(place.get("x") + "/" + place.get("y"))).isTrue();
        }
        assertThat(ids).hasSizeGreaterThan(10);
    }
}
