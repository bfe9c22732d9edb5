package io.rowlock.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.error.InvalidUseException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class JobKindTest {
    @Kind(
            value = "order-confirmation",
            aliases = {"order-mail", "io.old.OrderMail"})
    private record OrderConfirmation(long order) {}

    private record Nameless() {}

    @Kind(" ")
    private record BlankKind() {}

    @Kind(
            value = "good",
            aliases = {"bad\0alias"})
    private record BadAlias() {}

    @Test
    @Tag("P13")
    void a_kind_is_named_by_its_annotation_and_never_by_its_class() {
        JobKind<OrderConfirmation> kind = JobKind.of(OrderConfirmation.class);

        assertThat(kind.name()).isEqualTo("order-confirmation");
        assertThat(kind.payloadType()).isEqualTo(OrderConfirmation.class);
        assertThat(kind.aliases()).containsExactly("order-mail", "io.old.OrderMail");
    }

    @Test
    @Tag("P15")
    void a_payload_type_without_a_kind_is_refused_and_told_what_to_do() {
        assertThatThrownBy(() -> JobKind.of(Nameless.class))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining(Nameless.class.getName())
                .hasMessageContaining("annotate it with @Kind(\"a-stable-name\"), or give the kind with JobKind.named");
    }

    @Test
    @Tag("P15")
    @Tag("B55")
    void bad_names_and_aliases_are_refused() {
        assertThatThrownBy(() -> JobKind.of(BlankKind.class))
                .hasMessage("kind must not be blank (@Kind of " + BlankKind.class.getName() + ")");
        assertThatThrownBy(() -> JobKind.of(BadAlias.class)).hasMessageContaining("alias of kind good");
        assertThatThrownBy(() -> JobKind.named(null, String.class)).hasMessage("kind must not be null");
        assertThatThrownBy(() -> JobKind.named("k".repeat(201), String.class))
                .hasMessageContaining("kind must have at most 200 characters, got 201");
        assertThatThrownBy(() -> JobKind.named("k".repeat(300), String.class))
                .hasMessageContaining("kind must have at most 200 characters, got 300");
        assertThatThrownBy(() -> JobKind.named("mail", null)).hasMessageContaining("needs a payload type");
    }

    @Test
    void a_kind_keeps_its_own_copy_of_the_aliases() {
        List<String> aliases = new ArrayList<>(List.of("old"));
        JobKind<String> kind = new JobKind<>("new", String.class, aliases);

        aliases.add("later");

        assertThat(kind.aliases()).containsExactly("old");
    }

    @Test
    @Tag("P15")
    void a_request_needs_kind_payload_and_options() {
        assertThatThrownBy(() -> JobRequest.of(null)).hasMessage("The payload of a job must not be null");
        assertThatThrownBy(() -> JobRequest.of(JobKind.named("mail", String.class), null, o -> {}))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("payload null");
        assertThatThrownBy(() -> new JobRequest<>(null, "x", new JobOptions()))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("kind=null");
    }

    @Test
    void states_and_priorities_equal_the_columns_texts_and_levels() {
        for (JobState state : JobState.values()) {
            assertThat(JobState.of(state.text())).isEqualTo(state);
        }
        for (Priority priority : Priority.values()) {
            assertThat(Priority.ofLevel(priority.level())).isEqualTo(priority);
        }
        assertThat(List.of(JobState.values()).stream()
                        .filter(JobState::terminal)
                        .toList())
                .containsExactly(JobState.COMPLETED, JobState.DEAD, JobState.CANCELLED);
    }

    @Kind(value = "fast", version = 0)
    private record NoVersion() {}

    @Kind(value = "fast", version = 7)
    private record Seventh() {}

    @Test
    void version_is_1_unless_said_otherwise_and_never_less() {
        assertThat(JobKind.of(Seventh.class).version()).isEqualTo(7);
        assertThat(JobKind.named("fast", String.class).version()).isEqualTo(1);
        assertThat(JobKind.named("fast", String.class).version(2))
                .isEqualTo(new JobKind<>("fast", String.class, List.of(), 2));
        assertThatThrownBy(() -> JobKind.of(NoVersion.class))
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("The version of kind fast must be between 1 and 10000, got 0 (@Kind of ");
        assertThatThrownBy(() -> JobKind.named("fast", String.class).version(10_001))
                .isInstanceOf(InvalidUseException.class);
    }
}
