package io.rowlock.examples.orders.demo;

import com.icegreen.greenmail.configuration.GreenMailConfiguration;
import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import io.rowlock.examples.orders.mail.MailSender;
import jakarta.mail.MessagingException;
import jakarta.mail.internet.MimeMessage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** The world's mail: an SMTP server in this process that takes every mail and keeps it in memory. */
final class Mailbox implements AutoCloseable {
    private final GreenMail server = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));

    Mailbox() {
        server.withConfiguration(GreenMailConfiguration.aConfig().withDisabledAuthentication());
        server.start();
    }

    int port() {
        return server.getSmtp().getPort();
    }

    /** What was received up to now. */
    Received received() throws MessagingException {
        Map<Long, Integer> confirmations = new HashMap<>();
        Map<Long, Integer> thanks = new HashMap<>();
        Set<String> keys = new HashSet<>();
        MimeMessage[] mails = server.getReceivedMessages();
        for (MimeMessage mail : mails) {
            boolean thanked = MailSender.THANKS.equals(mail.getHeader(MailSender.KIND_HEADER, null));
            (thanked ? thanks : confirmations)
                    .merge(Long.valueOf(mail.getHeader(MailSender.ORDER_HEADER, null)), 1, Integer::sum);
            keys.add(mail.getHeader(MailSender.KEY_HEADER, null));
        }
        return new Received(confirmations, thanks, keys.size());
    }

    @Override
    public void close() {
        server.stop();
    }

    /**
     * The mails received.
     *
     * @param confirmations how many confirmed each order
     * @param thanks how many thanked for each order
     * @param keys how many different idempotency keys all of them carry
     */
    record Received(Map<Long, Integer> confirmations, Map<Long, Integer> thanks, int keys) {
        Received {
            confirmations = Map.copyOf(confirmations);
            thanks = Map.copyOf(thanks);
        }

        int mails() {
            return sum(confirmations) + sum(thanks);
        }

        static int sum(Map<Long, Integer> counts) {
            return counts.values().stream().mapToInt(Integer::intValue).sum();
        }
    }
}
