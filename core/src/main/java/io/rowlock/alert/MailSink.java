package io.rowlock.alert;

import io.rowlock.error.InvalidUseException;

/** Sends alerts as mails. */
final class MailSink implements AlertSink {
    private static final int LONGEST_SUBJECT = 200;

    private final Mailer mailer;
    private final String to;

    MailSink(Mailer mailer, String to) {
        if (mailer == null || to == null || to.isBlank()) {
            throw new InvalidUseException("A sink of mails needs a mailer and an address, got " + mailer + ", " + to);
        }
        this.mailer = mailer;
        this.to = to;
    }

    @Override
    public void tell(Alert alert, Delivery delivery) throws Exception {
        mailer.send(to, subject(alert), body(alert, delivery));
    }

    private static String subject(Alert alert) {
        String subject = AlertTexts.line("[Rowlock] " + alert.cause() + ": " + alert.kind()
                + (alert.count() > 1 ? " (" + alert.count() + ")" : ""));
        return subject.length() > LONGEST_SUBJECT ? subject.substring(0, LONGEST_SUBJECT) : subject;
    }

    private static String body(Alert alert, Delivery delivery) {
        return alert.cause() + ": " + alert.kind() + "\n\n" + alert.reason() + "\n\n"
                + "alert " + alert.id() + ", " + alert.count() + " times from "
                + alert.span().first() + " to "
                + alert.span().last() + (alert.job() == null ? "" : ", last of job " + alert.job())
                + "\ndelivery " + delivery.key() + "\n";
    }
}
