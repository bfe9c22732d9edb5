package io.rowlock.testkit;

import io.rowlock.job.Job;
import io.rowlock.job.JobKind;
import io.rowlock.job.Jobs;
import java.util.List;
import org.assertj.core.api.AbstractAssert;

/** Assertions on the rows of jobs. Each reads them anew, so it can be retried while a worker runs. */
public final class JobsAssert extends AbstractAssert<JobsAssert, Jobs> {
    JobsAssert(Jobs actual) {
        super(actual, JobsAssert.class);
    }

    /**
     * Exactly one job of the kind exists, in whatever state; goes on with it.
     *
     * @param payloadType a class with {@link io.rowlock.job.Kind}
     * @return assertions on that job
     */
    public JobAssert hasOne(Class<?> payloadType) {
        return hasOne(JobKind.of(payloadType).name());
    }

    /**
     * Exactly one job of the kind exists, in whatever state; goes on with it.
     *
     * @param kind the kind's name
     * @return assertions on that job
     */
    public JobAssert hasOne(String kind) {
        List<Job> found = hasCount(kind, 1).actual.ofKind(kind);
        return new JobAssert(found.get(0), actual);
    }

    /**
     * Exactly so many jobs of the kind exist, in whatever state.
     *
     * @param kind the kind's name
     * @param count how many, 0 to 1,000
     * @return this
     */
    public JobsAssert hasCount(String kind, int count) {
        isNotNull();
        List<Job> found = actual.ofKind(kind);
        if (found.size() != count) {
            failWithMessage("Expected %d jobs of kind %s, found %d: %s", count, kind, found.size(), describe(found));
        }
        return this;
    }

    /**
     * No job of the kind exists.
     *
     * @param payloadType a class with {@link io.rowlock.job.Kind}
     * @return this
     */
    public JobsAssert hasNone(Class<?> payloadType) {
        return hasCount(JobKind.of(payloadType).name(), 0);
    }

    /**
     * Exactly one job about the subject exists; goes on with it.
     *
     * @param subject the subject, such as {@code Order:42}
     * @return assertions on that job
     */
    public JobAssert hasOneAbout(String subject) {
        isNotNull();
        List<Job> found = actual.ofSubject(subject);
        if (found.size() != 1) {
            failWithMessage("Expected one job about %s, found %d: %s", subject, found.size(), describe(found));
        }
        return new JobAssert(found.get(0), actual);
    }

    private static String describe(List<Job> jobs) {
        return String.join(
                ", ", jobs.stream().limit(10).map(JobAssert::describe).toList());
    }
}
