package io.rowlock.internal.engine;

import io.rowlock.job.Enqueued;
import io.rowlock.job.Priority;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one process tells the others after commits: where to look, never what is there. A hint; nothing breaks if it is
 * lost, late or doubled.
 *
 * @param from who sent it: it has woken its own workers already
 * @param earliest the earliest new job of each lane
 * @param everywhere whether other lanes may have work too
 * @param since the earliest time in those other lanes, by the database's clock, or null if no time is known
 */
record Note(
        String from,
        List<Enqueued> earliest,
        boolean everywhere,
        @Nullable Instant since) {
    /** PostgreSQL takes less than 8,000 bytes. */
    private static final int LONGEST = 7_999;

    /** As the driver gives infinity. */
    private static final Instant EARLIEST = OffsetDateTime.MIN.toInstant();

    private static final Instant LATEST = OffsetDateTime.MAX.toInstant();

    private static final String FORMAT = "rowlock-1 ";
    private static final String EVERYWHERE = "*";
    private static final String KEYED = "keyed";

    Note {
        earliest = List.copyOf(earliest);
    }

    /**
     * The text as it goes over the channel: ASCII whatever the encoding of the database. Too many lanes for one text become
     * "everywhere".
     */
    String text() {
        StringBuilder text = new StringBuilder(FORMAT).append(from);
        for (Enqueued job : earliest) {
            text.append('\n').append(line(job));
        }
        if (everywhere) {
            text.append('\n').append(EVERYWHERE).append(since == null ? "" : " " + since);
        }
        return text.length() <= LONGEST ? text.toString() : withoutLanes().text();
    }

    /** The same in fewer words: to be looked for everywhere, from the earliest of the times on. */
    Note withoutLanes() {
        Instant soonest = since;
        for (Enqueued job : earliest) {
            soonest = soonest == null || job.runAt().isBefore(soonest) ? job.runAt() : soonest;
        }
        return new Note(from, List.of(), true, soonest);
    }

    private static String line(Enqueued job) {
        return String.join(
                " ",
                Long.toString(job.id()),
                URLEncoder.encode(job.queue(), StandardCharsets.UTF_8),
                URLEncoder.encode(job.kind(), StandardCharsets.UTF_8),
                Integer.toString(job.priority().level()),
                job.keyed() ? KEYED : "free",
                job.runAt().toString());
    }

    /** Reads a text; nothing if it is of some other origin, or of a version that this one does not know. */
    static Optional<Note> read(String text) {
        if (!text.startsWith(FORMAT)) {
            return Optional.empty();
        }
        try {
            String[] lines = text.split("\n", -1);
            List<Enqueued> jobs = new ArrayList<>();
            boolean everywhere = false;
            Instant since = null;
            for (int i = 1; i < lines.length; i++) {
                String[] words = lines[i].split(" ", -1);
                if (words[0].equals(EVERYWHERE)) {
                    everywhere = true;
                    since = words.length == 1 ? null : time(words[1]);
                } else {
                    jobs.add(job(words));
                }
            }
            return Optional.of(new Note(lines[0].substring(FORMAT.length()), jobs, everywhere, since));
        } catch (RuntimeException unreadable) {
            return Optional.empty();
        }
    }

    private static Enqueued job(String[] words) {
        return new Enqueued(
                Long.parseLong(words[0]),
                URLDecoder.decode(words[2], StandardCharsets.UTF_8),
                URLDecoder.decode(words[1], StandardCharsets.UTF_8),
                Priority.ofLevel(Integer.parseInt(words[3])),
                time(words[5]),
                words[4].equals(KEYED),
                false);
    }

    /** Times beyond what the database gives are of some other origin, and would not bear to be reckoned with. */
    private static Instant time(String text) {
        Instant at = Instant.parse(text);
        if (at.isBefore(EARLIEST) || at.isAfter(LATEST)) {
            throw new DateTimeException(text);
        }
        return at;
    }
}
