package io.rowlock.hibernate;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Takes from an SQL text, as PostgreSQL reads it, what is no code: comments, which nest, and the insides of strings, also
 * of those with escapes ({@code E'it\'s'}) and between dollars. Quoted names are left as they are, and so is the body of
 * a DO statement, which is run.
 */
final class SqlCode {
    private static final Pattern DOLLARS = Pattern.compile("\\$(?:[\\p{L}_][\\p{L}\\p{N}_]*)?\\$");
    private static final Pattern DO =
            Pattern.compile("(?:^|;)\\s*do(?:\\s+language\\s+\\S+)?\\s*$", Pattern.CASE_INSENSITIVE);
    private static final int DO_LENGTH = 100;

    private final String sql;
    private final StringBuilder code = new StringBuilder();
    private int at;

    private SqlCode(String sql) {
        this.sql = sql;
    }

    /** The text with a blank in place of each comment and string. */
    static String of(String sql) {
        return new SqlCode(sql).read();
    }

    private String read() {
        while (at < sql.length()) {
            char c = sql.charAt(at);
            if (c == '\'') {
                skipString(isEscaping());
            } else if (c == '"') {
                copy(endOf('"'));
            } else if (sql.startsWith("--", at)) {
                int end = sql.indexOf('\n', at);
                skip(end < 0 ? sql.length() : end);
            } else if (sql.startsWith("/*", at)) {
                skipComment();
            } else if (c != '$' || isWord(at - 1) || !skippedDollars()) {
                copy(at + 1);
            }
        }
        return code.toString();
    }

    /** Behind the next quote. One in a name or plain string is written twice, which reads as two of them side by side. */
    private int endOf(char quote) {
        int end = sql.indexOf(quote, at + 1);
        return end < 0 ? sql.length() : end + 1;
    }

    private void skipString(boolean escaping) {
        if (!escaping) {
            skip(endOf('\''));
            return;
        }
        int end = at + 1;
        while (end < sql.length() && (sql.charAt(end) != '\'' || sql.startsWith("''", end))) {
            end += sql.charAt(end) == '\\' || sql.charAt(end) == '\'' ? 2 : 1;
        }
        skip(end + 1);
    }

    /** Whether the string that begins here has an E before it. */
    private boolean isEscaping() {
        return at > 0 && (sql.charAt(at - 1) == 'E' || sql.charAt(at - 1) == 'e') && !isWord(at - 2);
    }

    private void skipComment() {
        int depth = 0;
        int end = at;
        do {
            if (sql.startsWith("/*", end)) {
                depth++;
                end += 2;
            } else if (sql.startsWith("*/", end)) {
                depth--;
                end += 2;
            } else {
                end++;
            }
        } while (depth > 0 && end < sql.length());
        skip(end);
    }

    private boolean skippedDollars() {
        Matcher opening = DOLLARS.matcher(sql).region(at, sql.length());
        if (!opening.lookingAt()) {
            return false;
        }
        int begin = opening.end();
        int end = sql.indexOf(opening.group(), begin);
        String before = code.substring(Math.max(0, code.length() - DO_LENGTH));
        boolean run = DO.matcher(before).find();
        String body = sql.substring(begin, end < 0 ? sql.length() : end);
        skip(end < 0 ? sql.length() : end + opening.group().length());
        if (run) {
            code.append(of(body)).append(' ');
        }
        return true;
    }

    private boolean isWord(int index) {
        return index >= 0 && (Character.isLetterOrDigit(sql.charAt(index)) || "_$".indexOf(sql.charAt(index)) >= 0);
    }

    private void skip(int end) {
        code.append(' ');
        at = Math.min(end, sql.length());
    }

    private void copy(int end) {
        code.append(sql, at, end);
        at = end;
    }
}
