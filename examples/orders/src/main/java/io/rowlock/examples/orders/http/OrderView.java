package io.rowlock.examples.orders.http;

import io.rowlock.examples.orders.order.Order;
import io.rowlock.examples.orders.order.OrderLine;
import io.rowlock.job.Job;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An order, what became of its jobs, and how far its fulfilment is, as {@code GET /orders/{number}} shows them. */
record OrderView(
        long order,
        String customer,
        String email,
        LocalDate placedOn,
        String total,
        List<Line> lines,
        List<JobView> jobs,
        String fulfilment) {

    static OrderView of(Order order, List<Job> jobs, String fulfilment) {
        return new OrderView(
                order.number(),
                order.customer(),
                order.email(),
                order.placedOn(),
                order.total().toPlainString(),
                order.lines().stream().map(Line::of).toList(),
                jobs.stream().map(JobView::of).toList(),
                fulfilment);
    }

    /** One product. */
    record Line(String product, int quantity, String amount) {
        static Line of(OrderLine line) {
            return new Line(line.product(), line.quantity(), line.amount().toPlainString());
        }
    }

    /** One job. */
    record JobView(
            long id,
            String kind,
            String state,
            int attempts,
            @Nullable String lastError,
            @Nullable Instant finishedAt) {
        static JobView of(Job job) {
            return new JobView(
                    job.id(),
                    job.kind(),
                    job.state().text(),
                    job.progress().attempts(),
                    job.progress().lastError(),
                    job.progress().finishedAt());
        }
    }
}
