package io.rowlock.alert;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes alerts to the log. */
final class LogSink implements AlertSink {
    private static final Logger LOG = LoggerFactory.getLogger("io.rowlock.alert");

    @Override
    public void tell(Alert alert, Delivery delivery) {
        LOG.warn(
                "Alert: {} (alert={}, kind={}, count={}, job={}): {}",
                alert.cause(),
                alert.id(),
                alert.kind(),
                alert.count(),
                alert.job(),
                AlertTexts.line(alert.reason()));
    }
}
