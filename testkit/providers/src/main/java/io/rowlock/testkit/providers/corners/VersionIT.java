package io.rowlock.testkit.providers.corners;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.testkit.providers.Providers;
import org.junit.jupiter.api.Test;

/** A build that runs the suite on many versions shows here that it really does. */
final class VersionIT {
    @Test
    void version_on_the_class_path_is_the_one_that_the_build_names() {
        assertThat(Providers.here().version()).isEqualTo(System.getProperty("rowlock.provider.version"));
    }
}
