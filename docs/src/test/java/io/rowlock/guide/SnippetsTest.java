package io.rowlock.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The pages show only code that the build compiles and runs: every Java block stands behind {@code <!-- snippet:
 * File#region -->} and equals that region. After a change of code, {@code -Dguide.write=true} writes the pages anew.
 */
class SnippetsTest {
    private static final Path DOCS = Path.of("").toAbsolutePath();
    private static final Path ROOT = DOCS.getParent();
    private static final Pattern BLOCK =
            Pattern.compile("(?:<!-- snippet: (\\w+)#([\\w-]+) -->\\n)?```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?:|#)([^)#\\s]+)");

    @Test
    void every_java_block_is_a_region_of_compiled_code() {
        List<String> wrong = new ArrayList<>();
        for (Path page : pages()) {
            String text = read(page);
            String renewed = BLOCK.matcher(text)
                    .replaceAll(block -> Matcher.quoteReplacement(
                            renewed(page, block.group(), block.group(1), block.group(2), wrong)));
            if (!renewed.equals(text)) {
                if (Boolean.getBoolean("guide.write")) {
                    write(page, renewed);
                } else {
                    wrong.add(page + " differs from the code; run with -Dguide.write=true");
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void every_link_leads_to_a_file() {
        List<String> broken = new ArrayList<>();
        for (Path page : pages()) {
            Matcher links = LINK.matcher(read(page));
            while (links.find()) {
                if (!Files.exists(page.resolveSibling(links.group(1)))) {
                    broken.add(page + " -> " + links.group(1));
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    private static String renewed(Path page, String block, String file, String region, List<String> wrong) {
        if (file == null) {
            wrong.add(page + " has a Java block without a snippet mark: "
                    + block.lines().skip(1).findFirst().orElse(""));
            return block;
        }
        return "<!-- snippet: " + file + "#" + region + " -->\n```java\n" + region(file, region) + "```";
    }

    private static String region(String file, String region) {
        Path source = DOCS.resolve("src/test/java/io/rowlock/guide/" + file + ".java");
        List<String> lines = read(source).lines().toList();
        int begin = lines.indexOf(lines.stream()
                .filter(line -> line.strip().equals("// tag::" + region))
                .findFirst()
                .orElse(""));
        int end = lines.indexOf(lines.stream()
                .filter(line -> line.strip().equals("// end::" + region))
                .findFirst()
                .orElse(""));
        assertThat(begin).as("region %s in %s", region, source).isNotNegative();
        assertThat(end).as("end of region %s in %s", region, source).isGreaterThan(begin);
        String body = String.join("\n", lines.subList(begin + 1, end)).stripTrailing();
        return body.stripIndent().strip() + "\n";
    }

    private static List<Path> pages() {
        try (Stream<Path> files = Files.walk(DOCS, 3)) {
            List<Path> pages =
                    new ArrayList<>(files.filter(file -> file.toString().endsWith(".md"))
                            .filter(file -> !file.toString().contains("target"))
                            .toList());
            for (String top : List.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md")) {
                pages.add(ROOT.resolve(top));
            }
            return pages;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
