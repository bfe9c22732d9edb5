package io.rowlock.checkup;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.internal.checkup.Symptom;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class CodesTest {
    @Test
    void codes_are_words_with_hyphens_and_there_is_one_for_each_symptom() {
        assertThat(Arrays.stream(Symptom.values()).map(Symptom::code))
                .doesNotHaveDuplicates()
                .allMatch(code -> code.matches("[a-z]+(-[a-z]+)*"));
    }
}
