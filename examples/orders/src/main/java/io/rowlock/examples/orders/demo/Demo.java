package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.Shop;
import io.rowlock.examples.orders.demo.DemoOptions.WrongUsage;
import io.rowlock.examples.orders.demo.Mailbox.Received;
import io.rowlock.examples.orders.demo.StopSignal.Stopped;
import io.rowlock.examples.orders.outside.WarehouseBooks;
import io.rowlock.saga.SagaOperations;
import jakarta.mail.MessagingException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The program behind {@code ./demo}: starts a shop and the world around it, sends it a file of orders by HTTP, waits
 * until nothing is due, prints what the rows say and checks it. With {@code --serve} it keeps the shop open instead.
 *
 * <p>Exit codes: 0 if all is well; 1 if a check failed, the file has bad lines, or something could not start; 2 for
 * wrong usage; 130 if a signal came before the end.
 */
public final class Demo {
    private static final String SAMPLE = "/sample-orders.jsonl";
    private static final int BAD_LINES_SHOWN = 100;
    private static final int FAILED = 1;
    private static final int WRONG_USAGE = 2;
    private static final int INTERRUPTED = 130;

    private final PrintStream out;
    private final PrintStream err;
    private final StopSignal signal;

    Demo(PrintStream out, PrintStream err, StopSignal signal) {
        this.out = out;
        this.err = err;
        this.signal = signal;
    }

    public static void main(String[] arguments) {
        // In UTF-8 whatever the locale: names of products and check marks need it.
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        StopSignal signal = new StopSignal();
        signal.listen(out);
        System.exit(new Demo(out, err, signal).run(arguments));
    }

    /** Runs to the end, or until a signal comes, and stops all it started; answers the exit code. */
    int run(String... arguments) {
        try {
            DemoOptions options = DemoOptions.parse(arguments);
            return options.serve() ? serve(options.port()) : send(options.file());
        } catch (WrongUsage e) {
            err.println(e.getMessage());
            err.print(DemoOptions.USAGE);
            return WRONG_USAGE;
        } catch (Exception e) {
            err.println("The demo failed:");
            e.printStackTrace(err);
            return FAILED;
        }
    }

    private int send(@Nullable Path path) throws InterruptedException, WrongUsage, SQLException, MessagingException {
        String name = path == null ? "the bundled sample" : path.toString();
        OrderFile file = read(path);
        showBadLines(name, file);
        if (file.entries().isEmpty()) {
            err.println("There is no order in " + name + ": expected one JSON object a line");
            return FAILED;
        }
        out.println("Starting PostgreSQL, an SMTP server, a warehouse, a bank, a carrier and the shop …");
        boolean passed;
        long start = System.nanoTime();
        try (World world = new World();
                Shop shop = open(world, 0)) {
            out.println("Sending " + file.entries().size() + " orders from " + name + " to http://127.0.0.1:"
                    + shop.port() + "/orders");
            passed = send(file, world, shop);
        } catch (Stopped e) {
            out.println("Stopped.");
            return INTERRUPTED;
        }
        out.println("Took " + Duration.ofNanos(System.nanoTime() - start).toSeconds() + " s.");
        if (!file.badLines().isEmpty()) {
            err.println(file.badLines().size() + " bad lines of " + name + " were left out; they are listed above.");
        }
        return passed && file.badLines().isEmpty() ? 0 : FAILED;
    }

    private boolean send(OrderFile file, World world, Shop shop)
            throws InterruptedException, SQLException, MessagingException, Stopped {
        OrderSender sender = new OrderSender(shop.port());
        Progress progress = new Progress(out, Boolean.getBoolean("rowlock.demo.terminal"));
        DemoRun run = new DemoRun(shop, world, sender, progress, signal);
        List<Person.Deed> deeds;
        try {
            run.send(file);
            run.awaitNothingDue();
            deeds = new Person(shop.sagas().operations(), world).help();
            run.awaitNothingDue();
        } finally {
            progress.end();
        }

        DemoRows rows = new DemoRows(shop.dataSource());
        DemoReport report = new DemoReport(out, rows);
        Received received = world.mailbox().received();
        SagaOperations sagas = shop.sagas().operations();
        SagaEnds ends = SagaEnds.read(sagas);
        report.figures(received, world);
        report.sagas(ends, deeds);
        report.oneSaga(sagas, deeds);
        List<Check> checks = new ArrayList<>(new DemoChecks(rows, sender.answers()).all(received, deeds.size()));
        checks.addAll(
                new BooksChecks(books(world, received, rows), sender.answers().accepted(), ends).all());
        return report.checks(checks);
    }

    private static BooksChecks.Books books(World world, Received received, DemoRows rows) throws SQLException {
        WarehouseBooks warehouse = world.warehouse().books();
        Map<String, Integer> shelves = new HashMap<>();
        warehouse.products().forEach(product -> shelves.put(product, warehouse.left(product)));
        return new BooksChecks.Books(
                world.bank().books().charges(),
                warehouse.taken(),
                shelves,
                world.carrier().books().deliveries(),
                received.thanks(),
                rows.invoices());
    }

    private int serve(int port) throws InterruptedException {
        if (!isFree(port)) {
            err.println("Port " + port + " of 127.0.0.1 is in use; choose another with --port N");
            return FAILED;
        }
        out.println("Starting PostgreSQL, an SMTP server, a warehouse, a bank, a carrier and the shop …");
        try (World world = new World();
                Shop shop = open(world, port)) {
            signal.check();
            out.print(ServeText.of(world.shopConfig(shop.port())));
            signal.await();
        } catch (Stopped e) {
            out.println("Stopped before it was open.");
            return 0;
        }
        out.println("Stopped.");
        return 0;
    }

    private Shop open(World world, int port) throws Stopped {
        signal.check(); // the world took seconds to start
        Shop shop = new Shop(world.shopConfig(port));
        world.carrier().reports().to(URI.create("http://127.0.0.1:" + shop.port()));
        return shop;
    }

    private OrderFile read(@Nullable Path path) throws WrongUsage {
        try (InputStream input = path == null
                ? Objects.requireNonNull(Demo.class.getResourceAsStream(SAMPLE))
                : Files.newInputStream(path)) {
            return OrderFile.read(input);
        } catch (IOException e) {
            throw new WrongUsage("Cannot read " + path + ": "
                    + (path != null && Files.notExists(path) ? "there is no such file" : e.getMessage()));
        }
    }

    private void showBadLines(String name, OrderFile file) {
        List<OrderFile.BadLine> bad = file.badLines();
        bad.stream()
                .limit(BAD_LINES_SHOWN)
                .forEach(line -> err.println(name + ":" + line.line() + ": " + line.problem()));
        if (bad.size() > BAD_LINES_SHOWN) {
            err.println("… and " + (bad.size() - BAD_LINES_SHOWN) + " more bad lines");
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
