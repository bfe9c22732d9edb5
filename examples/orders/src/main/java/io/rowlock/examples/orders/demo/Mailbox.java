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
        Map<Long, Integer> byOrder = new HashMap<>();
        Set<String> keys = new HashSet<>();
        MimeMessage[] mails = server.getReceivedMessages();
        for (MimeMessage mail : mails) {
            byOrder.merge(Long.valueOf(mail.getHeader(MailSender.ORDER_HEADER, null)), 1, Integer::sum);
            keys.add(mail.getHeader(MailSender.KEY_HEADER, null));
        }
        return new Received(mails.length, Map.copyOf(byOrder), keys.size());
    }

    @Override
    public void close() {
        server.stop();
    }

    /**
     * The mails received.
     *
     * @param mails how many
     * @param byOrder how many for each order
     * @param keys how many different idempotency keys they carry
     */
    record Received(int mails, Map<Long, Integer> byOrder, int keys) {}
}
