package io.rowlock.testkit.postgres;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import org.jspecify.annotations.Nullable;

/*
 * One connection through a TcpProxy: a thread carries messages from the client to the server, another those from the
 * server to the client. Whole messages are carried, so that a statement is either forwarded or not.
 *
 * A cut after a statement has to wait until the server is done with it. A reset that overtakes the statement would
 * make the kernel throw away what the server has not read yet, and a commit might then happen or not. So each
 * ReadyForQuery is counted against the messages that ask for one (Query, Sync, the start-up): the answers up to the
 * one that belongs to the statement are swallowed, and its ReadyForQuery, which the server sends when the transaction
 * has ended, cuts.
 *
 * Ends of streams wait at the gate too: while the network is frozen, neither side learns that the other is gone.
 *
 * A delay is waited for once for all messages that are there already when the first of them has been carried: they were
 * sent in one go, a statement or an answer of many rows, and a slow network would carry them side by side.
 */
final class ProxyLink {

    private static final int NO_ENCRYPTION = 'N';

    private final TcpProxy proxy;
    private final Socket client;
    private final Socket server = new Socket();
    private final SpokenSql sql = new SpokenSql();
    private volatile boolean closed;
    private int asked;
    private int answered;
    private @Nullable PlannedCut pending;
    private int pendingAnswer;

    ProxyLink(TcpProxy proxy, Socket client) {
        this.proxy = proxy;
        this.client = client;
    }

    void start() {
        thread("client", this::connectAndCarry).start();
    }

    /** Closes both ends, with a reset instead of a farewell. */
    void reset() {
        closed = true;
        proxy.gate().disturb();
        close(server, true);
        close(client, true);
        proxy.ended(this);
    }

    /** Marks the cut as made before the client can notice, so that a test which caught the client's error may ask. */
    private void reset(PlannedCut cut) {
        closed = true;
        close(server, true);
        cut.fire();
        reset();
    }

    private void connectAndCarry() throws IOException {
        if (!proxy.gate().pass(this::isClosed)) {
            return;
        }
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        server.connect(proxy.target());
        DataInputStream in = stream(client);
        if (greet(in)) {
            thread("server", this::carryToClient).start();
            boolean together = false;
            for (WireMessage message = WireMessage.read(in); message != null; message = WireMessage.read(in)) {
                if (!carryToServer(message, together)) {
                    return;
                }
                together = in.available() > 0;
            }
        }
    }

    /** Forwards the start-up message; a request for encryption before it is declined in the server's name. */
    private boolean greet(DataInputStream in) throws IOException {
        for (WireMessage first = WireMessage.readStartup(in); first != null; first = WireMessage.readStartup(in)) {
            if (!first.asksForEncryption()) {
                return carryToServer(first, false);
            }
            if (!proxy.gate().pass(this::isClosed)) {
                return false;
            }
            client.getOutputStream().write(NO_ENCRYPTION);
        }
        return false;
    }

    private boolean carryToServer(WireMessage message, boolean together) throws IOException {
        if (!passes(together)) {
            return false;
        }
        String spoken = sql.of(message);
        PlannedCut cut = spoken == null ? null : proxy.cutFor(spoken);
        if (cut != null && !cut.isAfterwards()) {
            reset(cut);
            return false;
        }
        expectAnswer(message, cut);
        count(message, spoken);
        server.getOutputStream().write(message.bytes());
        return true;
    }

    private boolean passes(boolean together) {
        Gate gate = proxy.gate();
        return together ? gate.pass(this::isClosed) : gate.passDelayed(this::isClosed);
    }

    /** The driver sends BEGIN as a Query of its own, but together with the statement that follows. */
    private void count(WireMessage message, @Nullable String spoken) {
        boolean begins = message.type() == WireMessage.QUERY && spoken != null && spoken.startsWith("BEGIN");
        if (message.isAnsweredByReady() && message.type() != WireMessage.STARTUP && !begins) {
            proxy.asked();
        }
        if (spoken != null && message.type() != WireMessage.PARSE) {
            proxy.ran(spoken);
        }
    }

    private synchronized void expectAnswer(WireMessage message, @Nullable PlannedCut cut) {
        if (cut != null) {
            pending = cut;
            pendingAnswer = asked + 1;
        }
        if (message.isAnsweredByReady()) {
            asked++;
        }
    }

    private void carryToClient() throws IOException {
        DataInputStream in = stream(server);
        boolean together = false;
        for (WireMessage message = WireMessage.read(in); message != null; message = WireMessage.read(in)) {
            if (!passes(together)) {
                return;
            }
            if (isToBeSwallowed(message)) {
                cutIfAnswered();
            } else {
                client.getOutputStream().write(message.bytes());
            }
            together = in.available() > 0;
        }
    }

    private synchronized boolean isToBeSwallowed(WireMessage message) {
        boolean swallow = pending != null && answered + 1 >= pendingAnswer;
        if (message.type() == WireMessage.READY_FOR_QUERY) {
            answered++;
        }
        return swallow;
    }

    private void cutIfAnswered() {
        PlannedCut cut;
        synchronized (this) {
            cut = answered >= pendingAnswer ? pending : null;
        }
        if (cut != null) {
            reset(cut);
        }
    }

    private boolean isClosed() {
        return closed;
    }

    private Thread thread(String side, Carrying carrying) {
        Thread thread = new Thread(
                () -> {
                    boolean failed = false;
                    try {
                        carrying.run();
                    } catch (IOException e) {
                        // One end is gone: the other is told below, the way TCP would.
                        failed = true;
                    }
                    end(failed);
                },
                "tcp-proxy-" + proxy.port() + "-" + side);
        thread.setDaemon(true);
        return thread;
    }

    private void end(boolean failed) {
        if (proxy.gate().pass(this::isClosed)) {
            closed = true;
            close(client, failed);
            close(server, failed);
        }
        proxy.ended(this);
    }

    private static DataInputStream stream(Socket socket) throws IOException {
        return new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    }

    private static void close(Socket socket, boolean reset) {
        try (socket) {
            if (reset && !socket.isClosed()) {
                socket.setSoLinger(true, 0);
            }
        } catch (IOException e) {
            // Closed already, by the other side or the other thread, which is what was wanted.
        }
    }

    /** What a thread of a link does until one end is gone. */
    private interface Carrying {
        void run() throws IOException;
    }
}
