package io.rowlock.testkit.saga;

import io.rowlock.saga.SagaTimeline;

/** Where assertions on sagas begin: {@code assertThat(driver.run(id))}. */
public final class SagaAssertions {
    private SagaAssertions() {}

    /**
     * Assertions on what happened to a saga.
     *
     * @param timeline as it was read; what happens later does not change it
     * @return assertions whose messages show the whole timeline
     */
    public static SagaTimelineAssert assertThat(SagaTimeline timeline) {
        return new SagaTimelineAssert(timeline);
    }
}
