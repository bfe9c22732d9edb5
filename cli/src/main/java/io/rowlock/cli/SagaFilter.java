package io.rowlock.cli;

import io.rowlock.error.InvalidUseException;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaStatus;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which sagas, said by options. */
final class SagaFilter {
    @Option(names = "--name", paramLabel = "NAME", description = "Of this definition.")
    private @Nullable String name;

    @Option(names = "--business-key", paramLabel = "KEY", description = "With this business key.")
    private @Nullable String businessKey;

    @Option(names = "--subject", paramLabel = "SUBJECT", description = "About this subject.")
    private @Nullable String subject;

    @Option(names = "--step", paramLabel = "STEP", description = "That stand at this step.")
    private @Nullable String step;

    @Option(
            names = "--status",
            paramLabel = "STATUS",
            description = "running, compensating, completed, compensated, compensation-failed, stuck or resolved.")
    private @Nullable String status;

    @Option(names = "--needs-person", description = "Those that wait for a person.")
    private boolean needsPerson;

    @Option(
            names = "--created-since",
            paramLabel = "TIME",
            description = "Started then or later: a time with its offset, or how long ago, as PT2H.")
    private @Nullable String createdSince;

    @Option(
            names = "--created-before",
            paramLabel = "TIME",
            description = "Started before that: a time with its offset, or how long ago, as PT2H.")
    private @Nullable String createdBefore;

    /** Refuses to mean all sagas. */
    void required() {
        if (name == null
                && businessKey == null
                && subject == null
                && step == null
                && status == null
                && !needsPerson
                && createdSince == null
                && createdBefore == null) {
            throw new InvalidUseException("Say which sagas: --name, --step, --subject, --needs-person, ...");
        }
    }

    SagaQuery query() {
        if (status != null && needsPerson) {
            throw new InvalidUseException("Say either --status or --needs-person");
        }
        SagaQuery query = SagaQuery.all();
        query = name == null ? query : query.name(name);
        query = businessKey == null ? query : query.businessKey(businessKey);
        query = subject == null ? query : query.subject(subject);
        query = step == null ? query : query.step(step);
        query = status == null ? query : query.status(status(status));
        query = createdSince == null ? query : query.createdFrom(Moment.ago("--created-since", createdSince));
        query = createdBefore == null ? query : query.createdBefore(Moment.ago("--created-before", createdBefore));
        return needsPerson ? query.needsPerson() : query;
    }

    private static SagaStatus status(String typed) {
        return Arrays.stream(SagaStatus.values())
                .filter(each ->
                        each.name().equalsIgnoreCase(typed.replace('-', '_').replace(' ', '_')))
                .findFirst()
                .orElseThrow(() -> new InvalidUseException("--status must be one of "
                        + Arrays.stream(SagaStatus.values())
                                .map(each -> SagaCommands.word(each).replace(' ', '-'))
                                .collect(Collectors.joining(", "))
                        + "; got " + typed));
    }
}
