package io.rowlock.testkit.postgres;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How a {@link ChildJvm} is started. Nothing is passed on from this JVM but its class path, unless said here. Not
 * safe for threads.
 */
public final class ChildJvmOptions {

    private final List<String> jvmArguments = new ArrayList<>();
    private final Map<String, String> properties = new LinkedHashMap<>();
    private final List<String> arguments = new ArrayList<>();

    ChildJvmOptions() {}

    /**
     * Adds options of the JVM itself.
     *
     * @param options for example {@code -Xmx64m}
     * @return this
     */
    public ChildJvmOptions jvmArguments(String... options) {
        jvmArguments.addAll(List.of(options));
        return this;
    }

    /**
     * Sets a system property; a later call for the same name wins.
     *
     * @param name its name
     * @param value its value
     * @return this
     */
    public ChildJvmOptions property(String name, String value) {
        properties.put(name, value);
        return this;
    }

    /**
     * Adds arguments of the main method.
     *
     * @param values in their order
     * @return this
     */
    public ChildJvmOptions arguments(String... values) {
        arguments.addAll(List.of(values));
        return this;
    }

    /**
     * Makes {@link TestPostgres#shared()} in the child the given server, so that it starts none of its own.
     *
     * @param server one that runs as long as the child needs it
     * @return this
     */
    public ChildJvmOptions sharing(TestPostgres server) {
        return property(Switch.CHOICE, "url")
                .property(Switch.URL, server.url())
                .property(Switch.USER, server.user())
                .property(Switch.PASSWORD, server.password());
    }

    List<String> command(String java, String classPathFile, String main) {
        List<String> command = new ArrayList<>(List.of(java));
        command.addAll(jvmArguments);
        properties.forEach((name, value) -> command.add("-D" + name + "=" + value));
        command.add("@" + classPathFile);
        command.add(main);
        command.addAll(arguments);
        return command;
    }
}
