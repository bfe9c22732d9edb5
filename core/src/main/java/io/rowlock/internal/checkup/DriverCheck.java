package io.rowlock.internal.checkup;

import io.rowlock.checkup.Finding;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The driver's timeouts. JDBC tells the network timeout itself; the rest stands in the connection's URL, as the driver
 * gives it. What a pool hands to the driver beside the URL is not seen: so its absence is a remark at most.
 */
final class DriverCheck {
    private static final int SHORTEST_SOCKET_MILLIS = 10_000;

    private DriverCheck() {}

    /** Sends nothing to the server. */
    static List<Finding> of(Connection connection, int networkTimeout) throws SQLException {
        return of(connection.getMetaData().getURL(), networkTimeout);
    }

    static List<Finding> of(String url, int networkTimeout) {
        Map<String, String> said = parameters(url);
        List<Finding> findings = new ArrayList<>();
        if ("0".equals(said.get("connecttimeout"))) {
            findings.add(Symptom.CONNECT_TIMEOUT.seen(
                    "The data source waits for ever for a connection (connectTimeout=0)",
                    "Set connectTimeout=10 in the URL of the data source."));
        }
        if (networkTimeout == 0 && !"true".equals(said.get("tcpkeepalive"))) {
            findings.add(Symptom.SILENT_CONNECTION.seen(
                    "The connections have no socketTimeout, and their URL does not say tcpKeepAlive=true",
                    "Add tcpKeepAlive=true to the URL of the data source, or a socketTimeout longer than your longest"
                            + " statement."));
        } else if (networkTimeout > 0 && networkTimeout < SHORTEST_SOCKET_MILLIS) {
            findings.add(
                    Symptom.SHORT_SOCKET_TIMEOUT.seen(
                            "The connections give up after " + networkTimeout + " ms without an answer (socketTimeout)",
                            "Set socketTimeout=30 or more in the URL of the data source; tcpKeepAlive=true finds dead servers."));
        }
        return findings;
    }

    private static Map<String, String> parameters(String url) {
        Map<String, String> parameters = new HashMap<>();
        int query = url == null ? -1 : url.indexOf('?');
        if (query >= 0) {
            for (String each : url.substring(query + 1).split("&", -1)) {
                int equals = each.indexOf('=');
                if (equals > 0) {
                    parameters.put(
                            each.substring(0, equals).toLowerCase(Locale.ROOT),
                            each.substring(equals + 1).toLowerCase(Locale.ROOT));
                }
            }
        }
        return parameters;
    }
}
