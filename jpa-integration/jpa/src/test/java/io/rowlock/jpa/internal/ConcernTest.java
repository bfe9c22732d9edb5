package io.rowlock.jpa.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which updates an annotation is about. */
final class ConcernTest {
    private static boolean changed(String watched, String... dirty) {
        return new Concern(Set.of(watched), Set.of()).matches(Set.of(dirty));
    }

    private static boolean ignoring(String ignored, String... dirty) {
        return new Concern(Set.of(), Set.of(ignored)).matches(Set.of(dirty));
    }

    @Test
    void attribute_is_meant_if_it_or_something_in_it_changed() {
        assertThat(changed("address", "address")).isTrue();
        assertThat(changed("address", "address.city")).isTrue();
        assertThat(changed("address", "addressee")).isFalse();
        assertThat(changed("address", "status")).isFalse();
    }

    @Test
    void path_is_meant_if_it_changed_or_nobody_knows_what_in_the_whole_did() {
        assertThat(changed("address.city", "address.city")).isTrue();
        assertThat(changed("address.city", "address.street")).isFalse();
        assertThat(changed("address.city", "address")).isTrue();
    }

    @Test
    void ignored_attributes_count_only_beside_others() {
        assertThat(ignoring("lastLogin", "lastLogin")).isFalse();
        assertThat(ignoring("lastLogin", "lastLogin", "email")).isTrue();
        assertThat(ignoring("address", "address.city")).isFalse();
        assertThat(ignoring("address.city", "address.city", "address.street")).isTrue();
        assertThat(ignoring("address.city", "address"))
                .as("nobody knows what in it")
                .isTrue();
    }

    @Test
    void update_that_nobody_knows_is_meant_and_one_of_nothing_is_not() {
        Concern all = new Concern(Set.of(), Set.of());
        assertThat(all.matches(null)).isTrue();
        assertThat(all.matches(Set.of("status"))).isTrue();
        assertThat(all.matches(Set.of())).isFalse();
        assertThat(new Concern(Set.of("status"), Set.of()).matches(null)).isTrue();
        assertThat(new Concern(Set.of(), Set.of("status")).matches(null)).isTrue();
    }
}
