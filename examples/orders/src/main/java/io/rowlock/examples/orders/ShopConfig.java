package io.rowlock.examples.orders;

import java.net.URI;

/**
 * Where the shop finds what it needs.
 *
 * @param database its PostgreSQL
 * @param smtp the server that takes its mails
 * @param partner where the partner takes notices
 * @param port the port of its own HTTP server on 127.0.0.1; 0 for any free one
 */
public record ShopConfig(Database database, Smtp smtp, URI partner, int port) {

    /** A PostgreSQL database. */
    public record Database(String url, String user, String password) {}

    /** A mail server. */
    public record Smtp(String host, int port) {}
}
