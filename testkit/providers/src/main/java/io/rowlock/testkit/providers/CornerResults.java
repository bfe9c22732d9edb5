package io.rowlock.testkit.providers;

import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Notes what came of each {@link Corner}, and writes it when all tests are done to
 * {@code target/provider-conformance.tsv}: a line with the provider and its version, then one for each corner with part,
 * row and {@code yes}, {@code no} or {@code differs: reason}, with tabs between. A corner that the provider declares
 * different must fail.
 */
final class CornerResults implements InvocationInterceptor {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(CornerResults.class);
    private static final Path FILE = Path.of("target", "provider-conformance.tsv");

    /** Called by JUnit. */
    CornerResults() {}

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        String row = corner(method.getExecutable(), "");
        if (row.isEmpty()) {
            invocation.proceed();
            return;
        }
        Report report = report(context);
        String line = corner(context.getRequiredTestClass(), "") + "\t" + row;
        String difference = Providers.here().differences().get(row);
        report.lines.put(line, "no");
        if (difference == null) {
            invocation.proceed();
            report.lines.put(line, "yes");
        } else {
            mustFail(invocation, row);
            report.lines.put(line, "differs: " + difference);
        }
    }

    private static void mustFail(Invocation<Void> invocation, String row) throws Throwable {
        try {
            invocation.proceed();
        } catch (AssertionError | Exception expected) {
            return;
        }
        throw new AssertionError("The provider declares that it differs here, but passes: " + row);
    }

    private static String corner(AnnotatedElement element, String otherwise) {
        return AnnotationSupport.findAnnotation(element, Corner.class)
                .map(Corner::value)
                .orElse(otherwise);
    }

    private static Report report(ExtensionContext context) {
        return context.getRoot()
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(Report.class, key -> new Report(), Report.class);
    }

    /** What came of all corners of this run; JUnit closes it after the last test. */
    private static final class Report implements AutoCloseable {
        private final TreeMap<String, String> lines = new TreeMap<>();

        @Override
        public void close() throws IOException {
            StringBuilder text = new StringBuilder();
            text.append(Providers.here().name()).append('\t');
            text.append(Providers.here().version()).append('\n');
            lines.forEach((corner, result) ->
                    text.append(corner).append('\t').append(result).append('\n'));
            Files.createDirectories(FILE.getParent());
            Files.writeString(FILE, text);
        }
    }
}
