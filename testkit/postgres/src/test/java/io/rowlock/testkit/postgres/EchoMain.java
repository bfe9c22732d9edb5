package io.rowlock.testkit.postgres;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Says back what it is told; ends when told {@code exit}, or with its input. */
final class EchoMain {

    private EchoMain() {}

    public static void main(String[] arguments) throws IOException {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("shut down in order")));
        System.out.println("ready " + String.join(",", arguments) + " " + System.getProperty("greeting") + " "
                + Runtime.getRuntime().maxMemory());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null && !line.equals("exit"); line = in.readLine()) {
            System.out.println("echo " + line);
        }
        System.exit(7);
    }
}
