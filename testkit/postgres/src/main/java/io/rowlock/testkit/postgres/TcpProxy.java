package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The network between clients and a PostgreSQL server, which a test may break. It listens on a port of 127.0.0.1 and
 * carries what comes there to the server and back, until told otherwise:
 *
 * <ul>
 *   <li>{@link #cut()} resets all connections; {@link #refuse()} lets no new one in until {@link #accept()}.
 *   <li>{@link #freeze()} carries nothing in either direction until {@link #thaw()}, as if every packet were lost: no
 *       error, no end of stream, only silence.
 *   <li>{@link #delay} carries everything later, in both directions: a slow network.
 *   <li>{@link #cutBefore} and {@link #cutAfter} cut one connection at a chosen statement.
 *   <li>{@link #redirect} sends new connections to another server: a failover behind one name.
 * </ul>
 *
 * <p>Clients get no encryption: a request for it is declined. While frozen, connecting still succeeds (the kernel
 * answers), but the server's first word does not come.
 *
 * <p>No method waits for the network. Threads are daemons. Safe for use by several threads.
 */
public final class TcpProxy implements AutoCloseable {

    private static final int BACKLOG = 100;

    private final int port;
    private final Gate gate = new Gate();
    private final Set<ProxyLink> links = ConcurrentHashMap.newKeySet();
    private final List<PlannedCut> cuts = new CopyOnWriteArrayList<>();
    private final AtomicLong roundTrips = new AtomicLong();
    private volatile Consumer<String> told = sql -> {};
    private volatile InetSocketAddress target;
    private @Nullable ServerSocket listener;
    private Thread listening = new Thread();

    private TcpProxy(InetSocketAddress target) {
        this.target = target;
        this.port = FreePort.find();
        accept();
    }

    /**
     * Puts a proxy in front of a server.
     *
     * @param server where to carry to
     * @return a proxy that accepts connections; close it
     * @throws UncheckedIOException if no port can be had
     */
    public static TcpProxy to(TestPostgres server) {
        return to(server.host(), server.port());
    }

    /**
     * Puts a proxy in front of a server.
     *
     * @param host name or address of the server
     * @param port its port, 1 to 65535
     * @return a proxy that accepts connections; close it
     * @throws UncheckedIOException if no port can be had
     */
    public static TcpProxy to(String host, int port) {
        return new TcpProxy(new InetSocketAddress(host, port));
    }

    /**
     * The port to connect to, on 127.0.0.1. It stays the same as long as the proxy lives.
     *
     * @return 20000 to 32000
     */
    public int port() {
        return port;
    }

    /**
     * The JDBC URL of a schema, through this proxy.
     *
     * @param schema on the server behind the proxy
     * @return {@link TestSchema#url()} with the proxy's host and port
     */
    public String url(TestSchema schema) {
        return JdbcUrl.at(schema.url(), EmbeddedServer.HOST, port);
    }

    /**
     * A data source of a schema, through this proxy, without a pool.
     *
     * @param schema on the server behind the proxy
     * @return a new object each time, on which timeouts may be set
     */
    public PGSimpleDataSource dataSource(TestSchema schema) {
        return JdbcUrl.dataSource(url(schema), schema.user(), schema.password());
    }

    /**
     * How many connections are carried now.
     *
     * @return 0 or more
     */
    public int connections() {
        return links.size();
    }

    /**
     * Has every statement told that a client runs from now on, before the server gets it; those of a batch one by one. Whom
     * it told before is told no more.
     *
     * @param told gets the text of each, by the thread that carries it; must neither block nor throw
     */
    public void tell(Consumer<String> told) {
        this.told = told;
    }

    /**
     * How often clients have asked something and waited for the answer, since this proxy was made: messages carried to the
     * server that it answers with ReadyForQuery (Sync, Query, function calls), not those that begin a connection. Statements
     * that the driver sends in one batch are one round trip; so are {@code BEGIN} and the statement that follows it, as the
     * driver sends both together.
     *
     * @return 0 or more; what a client has got the answer to is counted
     */
    public long roundTrips() {
        return roundTrips.get();
    }

    /**
     * Resets all present connections at both ends; later ones are carried. What was underway is lost, in either
     * direction.
     */
    public void cut() {
        links.forEach(ProxyLink::reset);
    }

    /**
     * Stops listening: whoever connects is refused. Present connections stay. Nothing happens if it refuses already.
     *
     * @throws UncheckedIOException if the port cannot be closed
     */
    public synchronized void refuse() {
        try {
            if (listener != null) {
                listener.close();
                listener = null;
                // The port is open until the thread has left accept(), where it may still take a client in.
                listening.join();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot stop listening on port " + port, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Listens again, on the same port, after {@link #refuse()}. Nothing happens if it listens already.
     *
     * @throws UncheckedIOException if the port is taken meanwhile
     */
    public synchronized void accept() {
        if (listener != null) {
            return;
        }
        try {
            ServerSocket socket = new ServerSocket();
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
            listener = socket;
            listening = new Thread(() -> listen(socket), "tcp-proxy-" + port);
            listening.setDaemon(true);
            listening.start();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot listen on port " + port, e);
        }
    }

    /**
     * Carries nothing from now on, of present and of new connections: bytes wait, and so does the news that an end
     * was closed.
     */
    public void freeze() {
        gate.shut();
    }

    /** Carries again: first what waited, in its order. */
    public void thaw() {
        gate.open();
    }

    /**
     * Carries what one side sends in one go (a statement, an answer) that much later to the other, in either direction, on
     * present and on new connections; so a statement takes at least twice the time, and the order stays.
     *
     * @param each how much later, 0 or more; zero, the default, carries at once, also what waits already
     * @throws IllegalArgumentException if negative
     */
    public void delay(Duration each) {
        if (each.isNegative()) {
            throw new IllegalArgumentException("A delay must not be negative, got " + each);
        }
        gate.delay(each);
    }

    /**
     * Sends new connections to another server. Present ones stay where they are; {@link #cut()} them for a failover.
     *
     * @param server where to carry to from now on
     */
    public void redirect(TestPostgres server) {
        target = new InetSocketAddress(server.host(), server.port());
    }

    /**
     * Sends new connections to another port of the same host. Present ones stay where they are.
     *
     * @param port 1 to 65535
     */
    public void redirect(int port) {
        target = new InetSocketAddress(target.getHostString(), port);
    }

    /**
     * Cuts the connection on which the next statement with this text comes by, before the server gets it. The server
     * rolls back; the client gets an error of the connection.
     *
     * <p>Statements that the driver prepared earlier, and now only names, are recognised too.
     *
     * @param fragment part of the SQL, compared letter by letter, for example {@code COMMIT} or {@code rowlock:claim}
     * @return tells whether it has happened
     */
    public PlannedCut cutBefore(String fragment) {
        return plan(new PlannedCut(fragment, false));
    }

    /**
     * Cuts the connection on which the next statement with this text comes by, after the server has run it to its end:
     * no part of the answer reaches the client. The client cannot know what became of its {@code COMMIT}; it did
     * happen.
     *
     * <p>The cut waits as long as the statement runs. Statements that the driver sends in one batch with it are run
     * too.
     *
     * @param fragment part of the SQL, compared letter by letter
     * @return tells whether it has happened
     */
    public PlannedCut cutAfter(String fragment) {
        return plan(new PlannedCut(fragment, true));
    }

    /** Refuses new connections and resets the present ones. */
    @Override
    public void close() {
        refuse();
        cut();
    }

    Gate gate() {
        return gate;
    }

    SocketAddress target() {
        return target;
    }

    @Nullable
    PlannedCut cutFor(String sql) {
        for (PlannedCut cut : cuts) {
            if (cut.claim(sql)) {
                cuts.remove(cut);
                return cut;
            }
        }
        return null;
    }

    void asked() {
        roundTrips.incrementAndGet();
    }

    void ran(String sql) {
        told.accept(sql);
    }

    void ended(ProxyLink link) {
        links.remove(link);
    }

    private PlannedCut plan(PlannedCut cut) {
        cuts.add(cut);
        return cut;
    }

    private void listen(ServerSocket socket) {
        try (socket) {
            while (true) {
                Socket client = socket.accept();
                ProxyLink link = new ProxyLink(this, client);
                links.add(link);
                link.start();
            }
        } catch (IOException e) {
            // The listener was closed by refuse(): the thread's only way to end.
            return;
        }
    }
}
