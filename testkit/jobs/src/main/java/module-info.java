/** For tests of applications that use Rowlock: a job for testing a handler alone, and assertions on jobs. */
module io.rowlock.testkit {
    requires transitive io.rowlock.core;
    requires transitive org.assertj.core;
    requires com.fasterxml.jackson.databind;
    requires static transitive org.jspecify;

    exports io.rowlock.testkit;
}
