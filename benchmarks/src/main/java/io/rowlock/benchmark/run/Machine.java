package io.rowlock.benchmark.run;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What the figures were measured on; no names of hosts or people. */
final class Machine {
    private Machine() {}

    static Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("cores", String.valueOf(Runtime.getRuntime().availableProcessors()));
        facts.put("processor", lineOf(Path.of("/proc/cpuinfo"), "model name"));
        facts.put("memory", lineOf(Path.of("/proc/meminfo"), "MemTotal"));
        facts.put("system", System.getProperty("os.name") + ' ' + System.getProperty("os.arch"));
        facts.put("java", System.getProperty("java.vm.name") + ' ' + System.getProperty("java.version"));
        return facts;
    }

    /** Of everything that is measured, as the build wrote them down. */
    static Map<String, String> versions() {
        try (InputStream file = Machine.class.getResourceAsStream("/versions.properties")) {
            Properties versions = new Properties();
            if (file != null) {
                versions.load(file);
            }
            Map<String, String> sorted = new TreeMap<>();
            commit().ifPresent(commit ->
                    versions.setProperty("Rowlock", versions.getProperty("Rowlock") + ", commit " + commit));
            versions.stringPropertyNames().forEach(name -> sorted.put(name, versions.getProperty(name)));
            return sorted;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<String> commit() {
        try {
            Process git = new ProcessBuilder("git", "rev-parse", "--short", "HEAD").start();
            try (BufferedReader said = git.inputReader()) {
                return Optional.ofNullable(said.readLine());
            }
        } catch (IOException e) {
            return Optional.empty(); // there is no git
        }
    }

    private static String lineOf(Path file, String name) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown"; // only Linux tells it there
        }
    }
}
