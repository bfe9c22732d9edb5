package io.rowlock.alert;

/**
 * Is told of alerts: a log, a chat, a pager. Given a name by {@code RowlockBuilder.alertSink}; workers of that Rowlock tell it
 * by jobs of their own, at least once: what it throws is tried again, after 10 s first and 15 min at most, for about a day;
 * with {@link io.rowlock.job.RetryAfter} when it says, and with {@link io.rowlock.job.PermanentFailure} never. No
 * transaction is open meanwhile. What it throws is kept with the delivery's job as its class and place, without its words, as
 * these may quote the alert. Each sink has two calls at once at most in each worker, and no other sink waits for them. After a minute its thread is interrupted, and the attempt has failed. To be safe for use by
 * several threads.
 */
@FunctionalInterface
public interface AlertSink {
    /**
     * Tells of an alert: when its row is new, and again when it has happened 10, 100, 1,000 times.
     *
     * @param alert the alert as it is by now
     * @param delivery what this call is known by
     * @throws Exception if it could not be told
     */
    void tell(Alert alert, Delivery delivery) throws Exception;

    /**
     * One telling of one sink.
     *
     * @param key the same in every attempt of this telling, and of no other telling; for receivers that drop what they have
     *     had: at most 60 characters of letters, digits and hyphens
     * @param attempt 1 for the first
     */
    record Delivery(String key, int attempt) {}

    /**
     * One that writes each alert to the log, as a warning of the logger {@code io.rowlock.alert}.
     *
     * @return a sink
     */
    static AlertSink log() {
        return new LogSink();
    }

    /**
     * One that sends each alert as a mail to one address: many readers are a mailing list's business, so that a retry reaches
     * none of them twice because of another.
     *
     * @param mailer sends mails
     * @param to the address, as the mailer understands it
     * @return a sink
     * @throws io.rowlock.error.InvalidUseException if null or blank
     */
    static AlertSink mail(Mailer mailer, String to) {
        return new MailSink(mailer, to);
    }
}
