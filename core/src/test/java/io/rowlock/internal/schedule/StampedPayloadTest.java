package io.rowlock.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StampedPayloadTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "null",
                "{\"a\":\n1}",
                "{\"rowlock-version\":3,\"payload\":{}}",
                "{\"rowlock-version\":",
                "{ \"rowlock-version\":3,\"payload\":{}}"
            })
    void payload_comes_back_as_it_was_with_its_version(String json) {
        for (int version : new int[] {1, 2, 10_000}) {
            StampedPayload payload = new StampedPayload(json, version);

            assertThat(StampedPayload.read(payload.column())).isEqualTo(payload);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "7", "{ \"rowlock-version\":3,\"payload\":{}}"})
    void payload_of_version_1_stands_there_as_it_is(String json) {
        assertThat(new StampedPayload(json, 1).column()).isEqualTo(json);
    }
}
