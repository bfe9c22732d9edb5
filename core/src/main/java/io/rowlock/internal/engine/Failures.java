package io.rowlock.internal.engine;

import io.rowlock.internal.sql.OutcomeSql.Failure;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.jspecify.annotations.Nullable;

/** What is kept of a failure: cut, and in characters that PostgreSQL stores. */
public final class Failures {
    private static final int MAX_MESSAGE = 2_000;
    private static final int MAX_STACK = 8_000;
    private static final int MAX_CLASS = 200;

    private Failures() {}

    /** Whatever was thrown: it may refuse to be printed, or to tell its message. */
    public static Failure failure(Throwable thrown) {
        StringWriter stack = new StringWriter();
        try {
            thrown.printStackTrace(new PrintWriter(stack));
        } catch (Throwable unprintable) {
            stack.append("(the stack trace could not be printed)");
        }
        return new Failure(
                cut(thrown.getClass().getName(), MAX_CLASS),
                cut(Described.message(thrown), MAX_MESSAGE),
                cut(stack.toString(), MAX_STACK));
    }

    /** At most so many characters, and only such as PostgreSQL stores: NUL and lone surrogates become U+FFFD. */
    public static String cut(@Nullable String text, int most) {
        if (text == null) {
            return "";
        }
        StringBuilder storable = new StringBuilder(Math.min(text.length(), most));
        for (int i = 0; i < text.length(); ) {
            int point = text.codePointAt(i);
            if (storable.length() + Character.charCount(point) > most) {
                break;
            }
            boolean unstorable = point == 0 || (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
            storable.appendCodePoint(unstorable ? 0xFFFD : point);
            i += Character.charCount(point);
        }
        return storable.toString();
    }
}
