package io.rowlock.alert;

/** Sends a mail, by whatever the application has for that. To be safe for use by several threads. */
@FunctionalInterface
public interface Mailer {
    /**
     * Sends it, or throws; returns when a server has taken it.
     *
     * @param to the address given to {@link AlertSink#mail}
     * @param subject one line without control characters, at most 200 characters
     * @param body plain text
     * @throws Exception if it could not be sent; tried again later
     */
    void send(String to, String subject, String body) throws Exception;
}
