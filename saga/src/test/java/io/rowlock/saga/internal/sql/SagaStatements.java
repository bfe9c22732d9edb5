package io.rowlock.saga.internal.sql;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** All statements of sagas. */
final class SagaStatements {
    private SagaStatements() {}

    /** A statement by the name of its field. */
    record Named(String name, String template) {}

    /** All fields of the package's classes that hold a tagged statement. */
    static List<Named> all() throws Exception {
        Path classes = Path.of(LoadSql.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<Named> all = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes.resolve("io/rowlock/saga/internal/sql"))) {
            for (Path file : files.sorted().toList()) {
                String name = file.getFileName().toString().replace(".class", "");
                if (!name.contains("$") && !name.equals("package-info")) {
                    all.addAll(of(Class.forName("io.rowlock.saga.internal.sql." + name)));
                }
            }
        }
        return all;
    }

    private static List<Named> of(Class<?> holder) throws IllegalAccessException {
        List<Named> all = new ArrayList<>();
        for (Field field : holder.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
                field.setAccessible(true);
                String text = (String) field.get(null);
                if (text.startsWith("/* rowlock:")) {
                    all.add(new Named(holder.getSimpleName() + '.' + field.getName(), text));
                }
            }
        }
        return all;
    }
}
