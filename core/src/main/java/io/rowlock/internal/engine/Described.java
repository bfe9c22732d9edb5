package io.rowlock.internal.engine;

/** Describes what was thrown, whatever its own methods do: user code throws what it likes (promise P10). */
public final class Described {
    private Described() {}

    /** Its text as by toString(), or at least its class. */
    public static String text(Throwable thrown) {
        try {
            return String.valueOf(thrown);
        } catch (Throwable unspeakable) {
            return thrown.getClass().getName();
        }
    }

    /** Its message, or the simple name of its class where there is none, or none can be had. */
    static String message(Throwable thrown) {
        try {
            String message = thrown.getMessage();
            return message == null || message.isBlank() ? name(thrown) : message;
        } catch (Throwable unspeakable) {
            return name(thrown);
        }
    }

    /** An anonymous class has no simple name. */
    private static String name(Throwable thrown) {
        String simple = thrown.getClass().getSimpleName();
        return simple.isEmpty() ? thrown.getClass().getName() : simple;
    }

    /** Logs, where logging may stumble over what was thrown. */
    public static void quietly(Runnable logging) {
        try {
            logging.run();
        } catch (Throwable unspeakable) {
            // what is logged must not change what is done
        }
    }
}
