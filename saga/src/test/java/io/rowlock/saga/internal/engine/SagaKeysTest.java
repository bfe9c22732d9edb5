package io.rowlock.saga.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SagaKeysTest {
    @Test
    void two_children_never_have_one_id() {
        assertThat(SagaKeys.child("o", "b")).isEqualTo("o/b");
        assertThat(SagaKeys.child("o", "b/c")).isNotEqualTo(SagaKeys.child("o/b", "c"));
        assertThat(SagaKeys.child("o".repeat(200), "b")).hasSizeLessThanOrEqualTo(200);
        assertThat(SagaKeys.child("o".repeat(200), "b")).isNotEqualTo(SagaKeys.child("o".repeat(200), "c"));
    }
}
