package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import org.hibernate.Version;
import org.junit.jupiter.api.Test;

/** The build runs all tests with two versions of Hibernate; this shows that it really does. */
final class HibernateVersionIT {
    @Test
    void the_tests_run_with_the_hibernate_that_the_build_names() {
        assertThat(Version.getVersionString()).isEqualTo(System.getProperty("expected.hibernate.version"));
    }
}
