package io.rowlock.cli;

import io.rowlock.error.InvalidUseException;
import java.util.ArrayList;
import java.util.List;

/** {@code PGHOST} and {@code PGPORT}, as psql reads them: one or several with commas; written as in a JDBC URL. */
final class PgHosts {
    private static final int HIGHEST_PORT = 65_535;

    private PgHosts() {}

    static String of(Surroundings around) {
        List<String> hosts =
                List.of(around.variable("PGHOST").orElse("localhost").split(",", -1));
        List<String> ports = List.of(around.variable("PGPORT").orElse("5432").split(",", -1));
        if (ports.size() != 1 && ports.size() != hosts.size()) {
            throw new InvalidUseException("PGPORT must be one port, or as many as PGHOST has hosts (" + hosts.size()
                    + "), got " + String.join(",", ports));
        }
        List<String> all = new ArrayList<>();
        for (int i = 0; i < hosts.size(); i++) {
            all.add(host(hosts.get(i)) + ':' + port(ports.get(ports.size() == 1 ? 0 : i)));
        }
        return String.join(",", all);
    }

    private static String host(String host) {
        if (host.startsWith("/") || host.startsWith("@")) {
            throw new InvalidUseException("PGHOST is the directory of a Unix socket, over which this command cannot"
                    + " connect; set PGHOST=localhost, or --url jdbc:postgresql://localhost/... (PGHOST=" + host + ")");
        }
        if (host.isBlank() || !host.matches("[^\\s/?#@\\[\\]]+")) {
            throw new InvalidUseException("PGHOST must be the name or address of a host, or several with commas, got "
                    + host + "; set it, or --url");
        }
        return host.indexOf(':') >= 0 ? '[' + host + ']' : host;
    }

    private static String port(String port) {
        if (port.matches("\\d{1,5}") && Integer.parseInt(port) >= 1 && Integer.parseInt(port) <= HIGHEST_PORT) {
            return port;
        }
        throw new InvalidUseException(
                "PGPORT must be a number from 1 to " + HIGHEST_PORT + ", got " + port + "; set it, or --url");
    }
}
