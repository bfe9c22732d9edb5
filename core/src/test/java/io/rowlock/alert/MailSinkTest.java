package io.rowlock.alert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.alert.AlertSink.Delivery;
import io.rowlock.error.InvalidUseException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a mail says. */
final class MailSinkTest {
    private record Mail(String to, String subject, String body) {}

    private final List<Mail> sent = new ArrayList<>();
    private final AlertSink sink =
            AlertSink.mail((to, subject, body) -> sent.add(new Mail(to, subject, body)), "ops@example.org");

    private static Alert alert(String kind) {
        Instant at = Instant.parse("2026-11-30T10:15:30Z");
        return new Alert(42, "job dead", kind, 3, "no such address", 7L, new Alert.Span(at, at), null);
    }

    @Test
    void subject_and_body_say_what_happened() throws Exception {
        sink.tell(alert("mail"), new Delivery("key-7", 1));

        assertThat(sent).containsExactly(new Mail("ops@example.org", "[Rowlock] job dead: mail (3)", """
                        job dead: mail

                        no such address

                        alert 42, 3 times from 2026-11-30T10:15:30Z to 2026-11-30T10:15:30Z, last of job 7
                        delivery key-7
                        """));
    }

    @Test
    void no_kind_can_write_headers_of_its_own() throws Exception {
        sink.tell(alert("mail\r\nBcc: all@example.org" + "x".repeat(300)), new Delivery("key-7", 1));

        assertThat(sent.get(0).subject()).doesNotContain("\r", "\n").hasSize(200);
    }

    @Test
    void what_cannot_be_is_refused() {
        assertThatThrownBy(() -> AlertSink.mail(null, "ops@example.org")).isInstanceOf(InvalidUseException.class);
        assertThatThrownBy(() -> AlertSink.mail((to, subject, body) -> {}, " "))
                .isInstanceOf(InvalidUseException.class);
    }
}
