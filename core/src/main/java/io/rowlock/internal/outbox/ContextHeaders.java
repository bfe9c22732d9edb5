package io.rowlock.internal.outbox;

import io.rowlock.error.InvalidUseException;
import io.rowlock.job.JobOptions;
import io.rowlock.spi.HeaderContributor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The headers that jobs have besides their own: what contributors say, and what they are caused by. */
public final class ContextHeaders {
    private final List<HeaderContributor> contributors;

    public ContextHeaders(List<HeaderContributor> contributors) {
        this.contributors = List.copyOf(contributors);
    }

    /** Those of jobs that are written now, on this thread. */
    Now now() {
        Map<String, String> contributed = new LinkedHashMap<>();
        for (HeaderContributor contributor : contributors) {
            contributed.putAll(checked(contributor));
        }
        return new Now(contributed, CurrentJob.headersNow());
    }

    private static Map<String, String> checked(HeaderContributor contributor) {
        Map<String, String> headers = contributor.headers();
        if (headers == null) {
            throw new InvalidUseException(
                    "A HeaderContributor must not give null; give an empty map for nothing to say ("
                            + contributor.getClass().getName() + ")");
        }
        JobOptions options = new JobOptions();
        headers.forEach(options::header);
        return options.headers();
    }

    /** What is contributed, and what is Rowlock's own. */
    record Now(Map<String, String> contributed, Map<String, String> own) {
        /** All headers of a job that has these of its own. */
        Map<String, String> with(Map<String, String> given) {
            if (contributed.isEmpty() && own.isEmpty()) {
                return given;
            }
            Map<String, String> all = new LinkedHashMap<>(contributed);
            all.putAll(given);
            all.putAll(own);
            return all;
        }
    }
}
