package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.error.IdempotencyRefusedException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.idempotency.Answers;
import io.rowlock.idempotency.IdempotencyKey;
import io.rowlock.idempotency.StoredAnswer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Stored answers. */
@Command(
        name = "answers",
        mixinStandardHelpOptions = true,
        description = "Reads what requests under idempotency keys were answered, and takes it out.",
        subcommands = {AnswerCommands.Show.class, AnswerCommands.Redact.class})
final class AnswerCommands extends Group {

    private static IdempotencyKey key(String text) {
        try {
            return new IdempotencyKey(text);
        } catch (IdempotencyRefusedException e) {
            throw new InvalidUseException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Under one key. */
    @Command(
            name = "show",
            description = {
                "Shows what was answered under a key of a principal; that it was read is kept.",
                "Without an answer it was taken out. Expired ones are there until a worker deletes them."
            })
    static final class Show extends Change {
        @Parameters(paramLabel = "KEY", description = "The idempotency key, as the client sent it.")
        private String key = "";

        @Option(
                names = "--principal",
                paramLabel = "PRINCIPAL",
                required = true,
                description = "Who asked, as the application said.")
        private String principal = "";

        @Override
        void check() {
            super.check();
            AnswerCommands.key(key);
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            List<StoredAnswer> found = rowlock.answers().find(principal, AnswerCommands.key(key), by());
            if (found.isEmpty() && !out.json()) {
                return out.missing("answer under key", key);
            }
            out.list(
                    List.of("method", "path", "answeredAt", "expiresAt", "answer"),
                    found.stream().map(Show::row).toList());
            return found.isEmpty() ? ExitCode.NOTHING : ExitCode.FINE;
        }

        private static List<@Nullable Object> row(StoredAnswer each) {
            String answer = each.answer();
            return Arrays.asList(
                    each.method(),
                    each.path(),
                    each.answeredAt(),
                    each.expiresAt(),
                    answer == null ? null : new Printer.Raw(answer));
        }
    }

    /** Of a principal. */
    @Command(
            name = "redact",
            description = {
                "Takes the answers of a principal out, of one key or of all.",
                "A repetition of such a request is refused, not done again, until the key expires. Of all keys: reads the whole table, a"
                        + " thousand rows a statement; repeat it when nothing of the principal is done any more."
            })
    static final class Redact extends Change {
        @Parameters(paramLabel = "PRINCIPAL", description = "Whose, as the application said.")
        private String principal = "";

        @Option(names = "--key", paramLabel = "KEY", description = "Only under this key.")
        private @Nullable String key;

        @Override
        void check() {
            super.check();
            if (key != null) {
                AnswerCommands.key(key);
            }
        }

        @Override
        int run(Rowlock rowlock, Printer out) {
            Answers answers = rowlock.answers();
            long done = key == null
                    ? answers.redact(principal, by())
                    : answers.redact(principal, AnswerCommands.key(key), by());
            out.sheet(Map.of("redacted", done));
            return done == 0 ? ExitCode.NOTHING : ExitCode.FINE;
        }
    }
}
