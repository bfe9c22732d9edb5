package io.rowlock.testkit.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The class path of this JVM as an argument file of {@code java} ({@code @file}), because a command line has a longest
 * length. Surefire may have started this JVM with a jar that holds nothing but a manifest; then it tells the real
 * class path in a property.
 */
final class ClassPathFile {

    private ClassPathFile() {}

    static Path write() throws IOException {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Path file = Files.createTempFile("rowlock-class-path-", ".args");
        return Files.writeString(
                file, "-cp \"" + classPath.replace("\\", "\\\\").replace("\"", "\\\"") + "\"\n");
    }
}
