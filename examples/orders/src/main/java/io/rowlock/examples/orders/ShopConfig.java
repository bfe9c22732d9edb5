package io.rowlock.examples.orders;

import java.net.URI;

/**
 * Where the shop finds what it needs.
 *
 * @param database its PostgreSQL
 * @param smtp the server that takes its mails
 * @param services where the services outside are
 * @param port the port of its own HTTP server on 127.0.0.1; 0 for any free one
 */
public record ShopConfig(Database database, Smtp smtp, Outside services, int port) {

    /** A PostgreSQL database. */
    public record Database(String url, String user, String password) {}

    /** A mail server. */
    public record Smtp(String host, int port) {}

    /** The addresses of the services that orders need. */
    public record Outside(URI warehouse, URI bank, URI carrier) {}
}
