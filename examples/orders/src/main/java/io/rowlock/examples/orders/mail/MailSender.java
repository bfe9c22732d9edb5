package io.rowlock.examples.orders.mail;

import io.rowlock.examples.orders.order.OrderConfirmation;
import io.rowlock.examples.orders.order.OrderPlaced;
import io.rowlock.job.JobContext;
import io.rowlock.job.JobHandler;
import io.rowlock.job.PermanentFailure;
import jakarta.mail.Message;
import jakarta.mail.MessagingException;
import jakarta.mail.SendFailedException;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.Properties;

/**
 * Mails customers by SMTP: does the {@code order-confirmation} jobs, and the last step of the fulfilment.
 *
 * <p>SMTP knows no idempotency key. Should this process die between the server's "250 accepted" and the completion of
 * the job, the mail goes out a second time: at least once is the most there is. Both mails would carry the same
 * {@code Message-ID}, which is made of the key, and by which mail programs and servers tell copies apart.
 */
public final class MailSender implements JobHandler<OrderConfirmation> {
    /** The header that names the order. */
    public static final String ORDER_HEADER = "X-Order";

    /** The header that says what kind of mail it is. */
    public static final String KIND_HEADER = "X-Kind";

    /** The kind of the mail after the delivery. */
    public static final String THANKS = "thanks";

    /** The header with the idempotency key. */
    public static final String KEY_HEADER = "X-Idempotency-Key";

    private static final String SHOP_ADDRESS = "shop@example.org";

    private final Session session;

    public MailSender(String smtpHost, int smtpPort) {
        Properties settings = new Properties();
        settings.setProperty("mail.smtp.host", smtpHost);
        settings.setProperty("mail.smtp.port", Integer.toString(smtpPort));
        // Without these a silent server would hold the job, and its lease, for ever.
        settings.setProperty("mail.smtp.connectiontimeout", "5000");
        settings.setProperty("mail.smtp.timeout", "10000");
        settings.setProperty("mail.smtp.writetimeout", "10000");
        session = Session.getInstance(settings);
    }

    @Override
    public void handle(OrderConfirmation confirmation, JobContext job) throws MessagingException {
        MimeMessage mail = message(confirmation.order(), confirmation.email(), job.idempotencyKey());
        mail.setHeader(KIND_HEADER, OrderConfirmation.KIND);
        mail.setSubject("Your order " + confirmation.order(), StandardCharsets.UTF_8.name());
        mail.setText(text(confirmation), StandardCharsets.UTF_8.name());
        send(mail);
    }

    /** Thanks a customer who has the goods. */
    public void thank(OrderPlaced order, String key) throws MessagingException {
        MimeMessage mail = message(order.order(), order.email(), key);
        mail.setHeader(KIND_HEADER, THANKS);
        mail.setSubject("Thank you, " + order.customer(), StandardCharsets.UTF_8.name());
        mail.setText(
                "We hope that you like what you got with order " + order.order() + ".", StandardCharsets.UTF_8.name());
        send(mail);
    }

    private static void send(MimeMessage mail) throws MessagingException {
        try {
            Transport.send(mail);
        } catch (SendFailedException e) {
            if (e.getInvalidAddresses() != null && e.getInvalidAddresses().length > 0) {
                throw new PermanentFailure("No such address: " + Arrays.toString(e.getInvalidAddresses()), e);
            }
            throw e;
        }
    }

    private MimeMessage message(long order, String email, String key) throws MessagingException {
        MimeMessage message = new KeyedMessage(session, "<" + key + "@shop.example.org>");
        message.setFrom(new InternetAddress(SHOP_ADDRESS));
        message.setRecipient(Message.RecipientType.TO, new InternetAddress(email, true));
        message.setSentDate(Date.from(Instant.now()));
        message.setHeader(ORDER_HEADER, Long.toString(order));
        message.setHeader(KEY_HEADER, key);
        return message;
    }

    private static String text(OrderConfirmation confirmation) {
        StringBuilder text = new StringBuilder()
                .append("Dear ")
                .append(confirmation.customer())
                .append(",\n\nthank you for your order ")
                .append(confirmation.order())
                .append(":\n\n");
        confirmation
                .lines()
                .forEach(line -> text.append(line.quantity())
                        .append(" × ")
                        .append(line.product())
                        .append(": ")
                        .append(line.amount())
                        .append(" EUR\n"));
        return text.append("Freight: ")
                .append(confirmation.freight())
                .append(" EUR\nTotal: ")
                .append(confirmation.total())
                .append(" EUR\n")
                .toString();
    }

    /** A message with an id of our own: Jakarta Mail would make a new one for every attempt. */
    private static final class KeyedMessage extends MimeMessage {
        private final String id;

        KeyedMessage(Session session, String id) {
            super(session);
            this.id = id;
        }

        @Override
        protected void updateMessageID() throws MessagingException {
            setHeader("Message-ID", id);
        }
    }
}
