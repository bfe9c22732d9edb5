package io.rowlock.examples.orders.demo;

import java.io.PrintStream;
import java.time.Duration;

/**
 * The line that shows how far the demo is: on a terminal one line that changes, elsewhere a new line now and then. For
 * one thread.
 */
final class Progress {
    private static final Duration ON_TERMINAL = Duration.ofMillis(100);
    private static final Duration ELSEWHERE = Duration.ofSeconds(2);
    private static final int WIDTH = 79;

    private final PrintStream out;
    private final boolean terminal;
    private long shownAt;
    private boolean open;

    Progress(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
        this.shownAt = System.nanoTime() - ELSEWHERE.toNanos();
    }

    /** Whether it is time for a new text: asking for one more often would be wasted. */
    boolean due() {
        return System.nanoTime() - shownAt >= (terminal ? ON_TERMINAL : ELSEWHERE).toNanos();
    }

    /** Shows a text now. */
    void show(String text) {
        shownAt = System.nanoTime();
        if (terminal) {
            String cut = text.length() > WIDTH ? text.substring(0, WIDTH) : text;
            out.print("\r" + cut + " ".repeat(WIDTH - cut.length()));
            open = true;
        } else {
            out.println(text);
        }
        out.flush();
    }

    /** Leaves the last text standing; what is printed next starts a new line. */
    void end() {
        if (open) {
            out.println();
            open = false;
        }
    }
}
