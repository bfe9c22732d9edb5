package io.rowlock.jpa.internal;

import io.rowlock.jpa.OutboxJob;
import io.rowlock.jpa.PayloadFactory;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** How messages call the annotations of one method or type: where there are several, each by what it has alone. */
final class AnnotationPlaces {
    private final String where;
    private final OutboxJob[] jobs;

    /** @param where names the method or type */
    AnnotationPlaces(String where, OutboxJob[] jobs) {
        this.where = where;
        this.jobs = jobs;
    }

    String of(int index) {
        if (jobs.length == 1) {
            return where;
        } else if (hasAlone(index, AnnotationPlaces::kind)) {
            return where + ", @OutboxJob(kind = \"" + jobs[index].kind() + "\")";
        } else if (hasAlone(index, AnnotationPlaces::payload)) {
            return where + ", @OutboxJob(payload = " + jobs[index].payload().getSimpleName() + ".class)";
        }
        return where + ", @OutboxJob number " + (index + 1);
    }

    private boolean hasAlone(int index, Function<OutboxJob, @Nullable Object> option) {
        Object value = option.apply(jobs[index]);
        return value != null
                && Arrays.stream(jobs)
                                .filter(each -> Objects.equals(option.apply(each), value))
                                .count()
                        == 1;
    }

    /** The kind, or null where it is not given or cannot be printed. */
    private static @Nullable Object kind(OutboxJob job) {
        return job.kind().isBlank() || job.kind().chars().anyMatch(Character::isISOControl) ? null : job.kind();
    }

    private static @Nullable Object payload(OutboxJob job) {
        return job.payload() == PayloadFactory.None.class ? null : job.payload();
    }
}
