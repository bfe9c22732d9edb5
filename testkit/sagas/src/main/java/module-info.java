/** Sagas driven by hand in tests, their timers jumped, and assertions on what happened to them. */
module io.rowlock.testkit.saga {
    requires transitive io.rowlock.saga;
    requires transitive org.assertj.core;
    requires static transitive org.jspecify;

    exports io.rowlock.testkit.saga;
}
