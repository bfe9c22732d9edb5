package io.rowlock.benchmark.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
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
