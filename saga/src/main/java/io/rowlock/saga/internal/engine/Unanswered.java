package io.rowlock.saga.internal.engine;

import io.rowlock.saga.OutcomeUnknown;
import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Whether what a step threw leaves open if it took effect. */
final class Unanswered {
    private static final int DEEPEST = 50;

    private Unanswered() {}

    static boolean by(Throwable thrown) {
        boolean nobodyThere = causes(thrown).anyMatch(ConnectException.class::isInstance);
        return saysItself(thrown) || (!nobodyThere && causes(thrown).anyMatch(Unanswered::tellsNothing));
    }

    /** Of a step that is rolled back when it fails: only what it says of itself counts. */
    static boolean saysItself(Throwable thrown) {
        return causes(thrown).anyMatch(OutcomeUnknown.class::isInstance);
    }

    private static Stream<Throwable> causes(Throwable thrown) {
        return Stream.iterate(thrown, each -> each != null, Throwable::getCause).limit(DEEPEST);
    }

    private static boolean tellsNothing(Throwable each) {
        return each instanceof IOException || each instanceof TimeoutException || each instanceof InterruptedException;
    }
}
