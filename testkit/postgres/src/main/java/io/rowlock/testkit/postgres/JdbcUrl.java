package io.rowlock.testkit.postgres;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.postgresql.Driver;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

/** Reads and extends JDBC URLs of PostgreSQL. */
final class JdbcUrl {

    private JdbcUrl() {}

    static String of(String host, int port, String database) {
        return "jdbc:postgresql://" + host + ":" + port + "/" + database;
    }

    static String with(String url, String parameter, String value) {
        return url
                + (url.indexOf('?') < 0 ? '?' : '&')
                + parameter
                + '='
                + URLEncoder.encode(value, StandardCharsets.UTF_8);
    }

    /** A fresh object for each URL: a second setURL does not undo what the first has set. */
    static PGSimpleDataSource dataSource(String url, String user, String password) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setURL(url);
        source.setUser(user);
        source.setPassword(password);
        return source;
    }

    static String host(String url) {
        return first(url, PGProperty.PG_HOST);
    }

    static int port(String url) {
        return Integer.parseInt(first(url, PGProperty.PG_PORT));
    }

    /** The same URL with another host and port: everything between the slashes is replaced. */
    static String at(String url, String host, int port) {
        int start = url.indexOf("//");
        int end = start < 0 ? -1 : url.indexOf('/', start + 2);
        if (end < 0) {
            throw new IllegalArgumentException("Not of the form jdbc:postgresql://host:port/database: " + url);
        }
        return url.substring(0, start + 2) + host + ":" + port + url.substring(end);
    }

    private static String first(String url, PGProperty property) {
        Properties parsed = Driver.parseURL(url, null);
        String value = parsed == null ? null : parsed.getProperty(property.getName());
        if (value == null) {
            throw new IllegalArgumentException("Not a JDBC URL of PostgreSQL: " + url);
        }
        int comma = value.indexOf(',');
        return comma < 0 ? value : value.substring(0, comma);
    }
}
