package io.rowlock.internal.engine;

import static io.rowlock.fixture.TestRowlock.soon;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("P10")
final class LoopTest {
    /** After six failures each pause is seconds long: forty of them would be the end of this test. */
    @Test
    @Timeout(100)
    void urgent_wake_up_ends_the_pause_after_a_failure() {
        AtomicInteger steps = new AtomicInteger();
        Loop loop = new Loop("failing", "me", new Events(List.of()), () -> {
            steps.incrementAndGet();
            throw new IllegalStateException("refused by the test");
        });
        loop.start();
        try {
            for (int i = 1; i < 40; i++) {
                int seen = i;
                soon().until(() -> {
                    loop.wakeNow();
                    return steps.get() > seen;
                });
            }
        } finally {
            loop.stop();
        }
    }
}
