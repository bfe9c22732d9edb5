package io.rowlock.examples.orders.http;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import io.javalin.json.JavalinJackson;
import io.javalin.validation.ValidationException;
import io.rowlock.Rowlock;
import io.rowlock.examples.orders.fulfilment.Delivered;
import io.rowlock.examples.orders.fulfilment.Deliveries;
import io.rowlock.examples.orders.fulfilment.OrderFulfilment;
import io.rowlock.examples.orders.order.BadOrder;
import io.rowlock.examples.orders.order.Order;
import io.rowlock.examples.orders.order.OrderJson;
import io.rowlock.examples.orders.order.OrderRefused;
import io.rowlock.examples.orders.order.OrderService;
import io.rowlock.saga.SagaQuery;
import io.rowlock.saga.SagaView;
import io.rowlock.saga.engine.SagaEngine;
import io.rowlock.worker.Worker;
import io.rowlock.worker.WorkerHealth;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.server.handler.StatisticsHandler;

/**
 * The shop's HTTP server.
 *
 * <ul>
 *   <li>{@code POST /orders} stores an order: 201, or 400 if it is no order, 409 or 422 if a rule forbids it
 *   <li>{@code POST /orders/{number}/delivered} with {@code {"at": "2026-12-01T12:00:00Z"}} is what the carrier says: 204
 *   <li>{@code GET /orders/{number}} shows an order, its jobs and how far its fulfilment is
 *   <li>{@code GET /orders/{number}/fulfilment} shows all that happened in it, as plain text
 *   <li>{@code GET /jobs} counts all jobs by state
 *   <li>{@code GET /health} says how the worker is: 200 or 503
 * </ul>
 *
 * <p>Whatever is refused, an unknown address and a body too long too, is answered with a code and reasons as JSON.
 */
public final class ShopHttp implements AutoCloseable {
    /** The longest request taken, in bytes. */
    public static final int BODY_LIMIT = 1 << 20;

    private static final long STOP_MILLIS = 10_000;

    private final OrderService orders;
    private final Deliveries deliveries;
    private final Engine engine;
    private final Javalin server;

    /** What it looks into. */
    public record Engine(Rowlock rowlock, SagaEngine sagas, Worker worker) {}

    /** Starts the server on a port of 127.0.0.1; 0 for any free one. */
    public ShopHttp(int port, OrderService orders, Deliveries deliveries, Engine engine) {
        this.orders = orders;
        this.deliveries = deliveries;
        this.engine = engine;
        this.server = Javalin.create(ShopHttp::configure)
                .post("/orders", this::placeOrder)
                .post("/orders/{number}/delivered", this::noteDelivery)
                .get("/orders/{number}", this::showOrder)
                .get("/orders/{number}/fulfilment", this::showFulfilment)
                .get("/jobs", this::countJobs)
                .get("/health", this::showHealth)
                .exception(BadOrder.class, (bad, request) -> refuse(request, 400, "BAD_ORDER", bad.problems()))
                .exception(OrderRefused.class, ShopHttp::refuse)
                .exception(ValidationException.class, ShopHttp::refuse)
                .exception(HttpResponseException.class, ShopHttp::refuse)
                .start("127.0.0.1", port);
    }

    public int port() {
        return server.port();
    }

    /** Takes no more requests, and lets running ones end for up to 10 s. */
    @Override
    public void close() {
        server.stop();
    }

    private void placeOrder(Context request) {
        Order order = orders.place(OrderJson.read(request.bodyAsBytes()));
        request.status(201)
                .header("Location", "/orders/" + order.number())
                .json(new Placed(order.number(), order.total().toPlainString()));
    }

    private void noteDelivery(Context request) {
        long number = number(request);
        Instant at = request.bodyValidator(Delivered.class)
                .check(said -> said.at() != null, "at: expected an instant")
                .get()
                .at();
        if (deliveries.note(number, at)) {
            request.status(204);
        } else {
            refuseUnknown(request, number);
        }
    }

    private void showOrder(Context request) {
        long number = number(request);
        orders.find(number)
                .ifPresentOrElse(
                        order -> request.json(OrderView.of(
                                order,
                                engine.rowlock().jobs().ofSubject("Order:" + order.id()),
                                fulfilment(number)
                                        .map(saga -> saga.status().name())
                                        .orElse("NOT_BEGUN"))),
                        () -> refuseUnknown(request, number));
    }

    private void showFulfilment(Context request) {
        long number = number(request);
        fulfilment(number)
                .flatMap(saga -> engine.sagas().operations().timeline(saga.id()))
                .ifPresentOrElse(timeline -> request.result(timeline.toText()), () -> refuseUnknown(request, number));
    }

    private Optional<SagaView> fulfilment(long number) {
        SagaQuery query = SagaQuery.all().businessKey(OrderFulfilment.businessKey(number));
        return engine.sagas().operations().find(query).sagas().stream().findFirst();
    }

    private static long number(Context request) {
        return request.pathParamAsClass("number", Long.class).get();
    }

    private void countJobs(Context request) {
        Map<String, Long> byState = new LinkedHashMap<>();
        engine.rowlock().jobs().counts().forEach((state, jobs) -> byState.put(state.text(), jobs));
        request.json(byState);
    }

    private void showHealth(Context request) {
        WorkerHealth health = engine.worker().health();
        request.status(health.up() ? 200 : 503).json(health);
    }

    private static void refuse(OrderRefused refused, Context request) {
        int status = refused.rule() == OrderRefused.Rule.DUPLICATE_NUMBER ? 409 : 422;
        refuse(request, status, refused.rule().name(), List.of(refused.reason()));
    }

    private static void refuseUnknown(Context request, long number) {
        refuse(request, 404, "NOT_FOUND", List.of("There is no order " + number));
    }

    private static void refuse(ValidationException bad, Context request) {
        boolean body = bad.getErrors().keySet().stream().noneMatch("number"::equals);
        refuse(
                request,
                400,
                body ? "BAD_DELIVERY" : "BAD_NUMBER",
                List.of(
                        body
                                ? "Expected {\"at\": \"2026-12-01T12:00:00Z\"}"
                                : "The number of an order is a whole number"));
    }

    /** What the server itself refuses: an unknown address, a body too long. */
    private static void refuse(HttpResponseException refused, Context request) {
        String code = switch (refused.getStatus()) {
            case 404 -> "NOT_FOUND";
            case 413 -> "TOO_LONG";
            default -> "REFUSED";
        };
        refuse(request, refused.getStatus(), code, List.of(String.valueOf(refused.getMessage())));
    }

    private static void refuse(Context request, int status, String code, List<String> reasons) {
        request.status(status).json(new Refusal(code, reasons));
    }

    private static void configure(JavalinConfig config) {
        config.showJavalinBanner = false;
        config.http.maxRequestSize = BODY_LIMIT;
        config.jsonMapper(new JavalinJackson(
                JsonMapper.builder()
                        .addModule(new JavaTimeModule())
                        .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
                        .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
                        .build(),
                false));
        // Jetty waits for running requests only when it counts them.
        config.jetty.modifyServer(jetty -> {
            jetty.insertHandler(new StatisticsHandler());
            jetty.setStopTimeout(STOP_MILLIS);
        });
    }

    /** The answer to a stored order. */
    private record Placed(long order, String total) {}
}
