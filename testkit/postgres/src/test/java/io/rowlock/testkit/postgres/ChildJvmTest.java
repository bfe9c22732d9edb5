package io.rowlock.testkit.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

final class ChildJvmTest {

    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void arguments_properties_and_memory_reach_the_child_and_lines_go_both_ways() throws Exception {
        try (ChildJvm child = start(
                o -> o.arguments("a", "b c").property("greeting", "hello there").jvmArguments("-Xmx48m"))) {
            String ready = child.awaitLine("ready", SOON);
            assertThat(ready).startsWith("ready a,b c hello there ");
            assertThat(Long.parseLong(ready.substring(ready.lastIndexOf(' ') + 1)))
                    .isLessThanOrEqualTo(48 << 20);

            child.send("one");
            child.send("two");
            child.send("two");
            assertThat(child.awaitLine("two", SOON)).isEqualTo("echo two");
            assertThat(child.awaitLine(line -> line.endsWith("two"), SOON)).isEqualTo("echo two");
            assertThat(child.lines()).containsExactly(ready, "echo one", "echo two", "echo two");

            child.send("exit");
            assertThat(child.awaitExit(SOON)).isEqualTo(7);
            assertThat(child.lines()).endsWith("shut down in order");
        }
    }

    @Test
    void killed_child_runs_no_shutdown_hook() throws Exception {
        try (ChildJvm child = start(o -> {})) {
            child.awaitLine("ready", SOON);
            child.kill();
            assertThat(ProcessHandle.of(child.pid()).filter(ProcessHandle::isAlive))
                    .isEmpty();
            child.awaitExit(SOON);
            assertThat(child.lines()).doesNotContain("shut down in order");
            assertThatThrownBy(() -> child.send("hello")).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void terminated_child_runs_its_shutdown_hooks() throws Exception {
        try (ChildJvm child = start(o -> {})) {
            child.awaitLine("ready", SOON);
            child.terminate();
            assertThat(child.awaitExit(SOON)).isEqualTo(143);
            assertThat(child.lines()).endsWith("shut down in order");
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void paused_child_stands_still_until_it_is_resumed() throws Exception {
        try (ChildJvm child = start(o -> {})) {
            child.awaitLine("ready", SOON);
            child.pause();
            child.send("hello");
            await().during(Duration.ofMillis(500))
                    .until(() -> child.lines().stream().noneMatch(line -> line.equals("echo hello")));
            assertThat(child.isAlive()).isTrue();
            child.resume();
            assertThat(child.awaitLine("hello", SOON)).isEqualTo("echo hello");
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void paused_child_can_be_killed() throws Exception {
        try (ChildJvm child = start(o -> {})) {
            child.awaitLine("ready", SOON);
            child.pause();
            child.kill();
            assertThat(child.awaitExit(SOON)).isEqualTo(137);
        }
    }

    @Test
    void failure_shows_what_the_child_said() throws Exception {
        try (ChildJvm child = start(o -> o.arguments("remarkable"))) {
            child.awaitLine("ready", SOON);
            assertThatThrownBy(() -> child.awaitLine("never", Duration.ofMillis(50)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("\"never\"")
                    .hasMessageContaining("remarkable");
            child.send("exit");
            assertThatThrownBy(() -> child.awaitLine("never", SOON))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("shut down in order");
        }
    }

    private static ChildJvm start(Consumer<ChildJvmOptions> options) {
        return ChildJvm.start(EchoMain.class, options);
    }
}
