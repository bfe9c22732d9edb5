package io.rowlock.internal.outbox;

import io.rowlock.error.AccessRefusedException;
import io.rowlock.spi.AccessPolicy;
import io.rowlock.spi.AccessPolicy.Access;
import java.util.Locale;
import java.util.StringJoiner;

/** Asks the application's access policy, and says what it refused. */
public final class Leave {
    private Leave() {}

    /** Throws where it is refused. */
    public static void require(AccessPolicy policy, Access access) {
        if (!policy.allows(access)) {
            throw new AccessRefusedException("The access policy of the application refused to let "
                    + access.by().who() + ' ' + words(access));
        }
    }

    private static String words(Access access) {
        String target = access.target().name().toLowerCase(Locale.ROOT);
        boolean many = access.name().isEmpty();
        StringJoiner keys = new StringJoiner(", ", " (", ")").setEmptyValue("");
        if (!many) {
            keys.add(target + '=' + access.name());
        }
        if (!access.kind().isEmpty()) {
            keys.add("kind=" + access.kind());
        }
        if (!access.queue().isEmpty() && !access.queue().equals(access.name())) {
            keys.add("queue=" + access.queue());
        }
        String action = access.action().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return action + (many ? " " + target + 's' : article(target)) + keys;
    }

    private static String article(String target) {
        return (target.startsWith("a") ? " an " : " a ") + target;
    }
}
