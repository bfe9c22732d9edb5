package io.rowlock.examples.orders.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.examples.orders.demo.DemoOptions.WrongUsage;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DemoOptionsTest {
    @Test
    void no_argument_means_the_bundled_sample() throws WrongUsage {
        assertThat(DemoOptions.parse()).isEqualTo(new DemoOptions(false, 8080, null));
    }

    @Test
    void a_file_and_a_port_are_understood() throws WrongUsage {
        assertThat(DemoOptions.parse("my.jsonl").file()).isEqualTo(Path.of("my.jsonl"));
        assertThat(DemoOptions.parse("--serve", "--port", "9000")).isEqualTo(new DemoOptions(true, 9000, null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--sever",
                "a b",
                "--serve a",
                "--port 9000",
                "--serve --port",
                "--serve --port 0",
                "--serve --port x"
            })
    void nonsense_is_refused(String arguments) {
        assertThatThrownBy(() -> DemoOptions.parse(arguments.split(" "))).isInstanceOf(WrongUsage.class);
    }
}
