package io.rowlock.dedup;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.Callable;

/** A connection on which something happens elsewhere just before a statement with a given tag is sent the first time. */
final class Interrupted {
    private Interrupted() {}

    static Connection before(String tag, Connection over, Callable<?> deed) {
        boolean[] done = new boolean[1];
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                    if (!done[0]
                            && method.getName().equals("prepareStatement")
                            && ((String) args[0]).contains("/* rowlock:" + tag + " */")) {
                        done[0] = true;
                        deed.call();
                    }
                    try {
                        return method.invoke(over, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
