package io.rowlock.examples.orders.order;

import io.rowlock.job.Kind;
import java.time.LocalDate;

/** The job of telling the partner who delivers that there is an order to deliver. */
@Kind(PartnerNotice.KIND)
public record PartnerNotice(long order, String country, LocalDate requiredOn, int lines) {
    public static final String KIND = "partner-notice";
}
