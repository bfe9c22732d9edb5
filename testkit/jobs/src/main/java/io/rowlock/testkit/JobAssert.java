package io.rowlock.testkit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.rowlock.job.By;
import io.rowlock.job.Job;
import io.rowlock.job.JobState;
import io.rowlock.job.Jobs;
import java.util.Objects;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/** Assertions on one job as it was read. */
public final class JobAssert extends AbstractAssert<JobAssert, Job> {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final By READER = new By("rowlock-testkit", "an assertion on the payload");

    private final Jobs jobs;

    JobAssert(Job actual, Jobs jobs) {
        super(actual, JobAssert.class);
        this.jobs = jobs;
    }

    /**
     * The job waits for its time or for a worker, and nobody works on it.
     *
     * @return this
     */
    public JobAssert isWaiting() {
        hasState(JobState.READY);
        if (actual.lease().owner() != null) {
            failWithMessage("Expected nobody to work on it: %s", describe(actual));
        }
        return this;
    }

    /**
     * The job is completed and kept.
     *
     * @return this
     */
    public JobAssert isCompleted() {
        return hasState(JobState.COMPLETED);
    }

    /**
     * The job is a dead letter whose reason contains the text.
     *
     * @param reason part of the last error
     * @return this
     */
    public JobAssert isDead(String reason) {
        hasState(JobState.DEAD);
        return lastFailedWith(reason);
    }

    /**
     * The job has this state.
     *
     * @param state the state
     * @return this
     */
    public JobAssert hasState(JobState state) {
        isNotNull();
        if (actual.state() != state) {
            failWithMessage("Expected a %s job: %s", state.text(), describe(actual));
        }
        return this;
    }

    /**
     * The last failed attempt's message contains the text.
     *
     * @param reason part of the message
     * @return this
     */
    public JobAssert lastFailedWith(String reason) {
        isNotNull();
        String error = actual.progress().lastError();
        if (error == null || !error.contains(reason)) {
            failWithMessage("Expected a failure with <%s>: %s", reason, describe(actual));
        }
        return this;
    }

    /**
     * So many attempts were used.
     *
     * @param attempts how many
     * @return this
     */
    public JobAssert hasAttempts(int attempts) {
        isNotNull();
        if (actual.progress().attempts() != attempts) {
            failWithMessage("Expected %d attempts: %s", attempts, describe(actual));
        }
        return this;
    }

    /**
     * The job is about this subject.
     *
     * @param subject the subject, or null for none
     * @return this
     */
    public JobAssert isAbout(@Nullable String subject) {
        isNotNull();
        if (!Objects.equals(actual.subject(), subject)) {
            failWithMessage("Expected subject <%s>: %s", subject, describe(actual));
        }
        return this;
    }

    /**
     * The payload, as JSON, is equal to this text, whatever the order of its properties. It is read as it stands now, which the
     * access policy must allow, and leaves a row in the table of operations over a connection of Rowlock's data source.
     *
     * @param json the JSON expected
     * @return this
     */
    public JobAssert hasPayload(String json) {
        isNotNull();
        String payload =
                jobs.content(actual.id(), READER).map(Job.Content::payload).orElse("null");
        if (!tree(payload).equals(tree(json))) {
            failWithMessage("Expected payload <%s>, got <%s>: %s", json, payload, describe(actual));
        }
        return this;
    }

    private static JsonNode tree(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("No JSON: " + json, e);
        }
    }

    static String describe(Job job) {
        return String.format(
                "job %d of kind %s, %s%s, attempts=%d, subject=%s, lastError=%s",
                job.id(),
                job.kind(),
                job.state().text(),
                job.lease().owner() == null ? "" : " leased by " + job.lease().owner(),
                job.progress().attempts(),
                job.subject(),
                job.progress().lastError());
    }
}
