package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** The guide's page shows the commands as they are; {@code -Dguide.write=true} writes it anew. */
final class GuideTest {
    private static final Path PAGE = Path.of("").toAbsolutePath().resolveSibling("docs/guide/cli.md");
    private static final Pattern HELP =
            Pattern.compile("<!-- help: rowlock ?([a-z ]*?) ?-->\\n.*?<!-- end help -->", Pattern.DOTALL);
    private static final Pattern TYPED = Pattern.compile(
            "(?<=`|^)rowlock (checkup|schema|jobs|alerts|operations|queues|schedules|sagas|leases|partitions|answers)( [A-Za-z0-9:.,'-]+)*",
            Pattern.MULTILINE);
    private static final Pattern COMMANDS =
            Pattern.compile("<!-- commands -->\\n.*?<!-- end commands -->", Pattern.DOTALL);

    @Test
    void the_page_shows_the_commands_as_they_are() throws IOException {
        CommandLine root = RowlockCommand.line(new Surroundings(Map.of(), "tester", () -> null))
                .setUsageHelpAutoWidth(false)
                .setUsageHelpWidth(110);
        String page = Files.readString(PAGE);
        String renewed = HELP.matcher(page)
                .replaceAll(block -> Matcher.quoteReplacement("<!-- help: rowlock " + block.group(1)
                        + (block.group(1).isEmpty() ? "" : " ") + "-->\n```text\n"
                        + help(root, block.group(1)) + "```\n<!-- end help -->"));
        renewed = COMMANDS.matcher(renewed)
                .replaceAll(
                        block -> Matcher.quoteReplacement("<!-- commands -->\n| command | what it does |\n|---|---|\n"
                                + commands(root, "rowlock") + "<!-- end commands -->"));
        if (Boolean.getBoolean("guide.write")) {
            Files.writeString(PAGE, renewed);
        }
        assertThat(Files.readString(PAGE)).as("run with -Dguide.write=true").isEqualTo(renewed);
    }

    /** In all pages: {@code rowlock jobs find --kind K} names a command and options that it has. */
    @Test
    void what_the_guide_says_to_type_is_there() throws IOException {
        CommandLine root = RowlockCommand.line(new Surroundings(Map.of(), "tester", () -> null));
        List<String> typed = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        try (Stream<Path> pages = Files.list(PAGE.getParent())) {
            for (Path page :
                    pages.filter(each -> each.toString().endsWith(".md")).toList()) {
                TYPED.matcher(Files.readString(page))
                        .results()
                        .map(MatchResult::group)
                        .forEach(line -> {
                            typed.add(line);
                            if (!isThere(root, line)) {
                                wrong.add(page.getFileName() + ": " + line);
                            }
                        });
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(typed).hasSizeGreaterThan(30);
    }

    private static boolean isThere(CommandLine root, String line) {
        CommandLine command = root;
        for (String word : line.substring("rowlock ".length()).split(" +", -1)) {
            if (word.startsWith("--")) {
                String option = word.contains("=") ? word.substring(0, word.indexOf('=')) : word;
                if (command.getCommandSpec().findOption(option) == null) {
                    return false;
                }
            } else if (!command.getSubcommands().isEmpty()) {
                command = command.getSubcommands().get(word);
                if (command == null) {
                    return false;
                }
            }
        }
        return command.getSubcommands().isEmpty();
    }

    private static String help(CommandLine root, String path) {
        CommandLine command = root;
        for (String each : path.isEmpty() ? new String[0] : path.split(" ")) {
            command = command.getSubcommands().get(each);
        }
        return command.getUsageMessage(Ansi.OFF)
                .lines()
                .map(String::stripTrailing)
                .reduce("", (all, line) -> all + line + "\n");
    }

    private static String commands(CommandLine of, String path) {
        StringBuilder rows = new StringBuilder();
        of.getSubcommands().forEach((name, command) -> {
            if (!command.getSubcommands().isEmpty()) {
                rows.append(commands(command, path + ' ' + name));
            } else if (!name.equals("help") && name.equals(command.getCommandName())) {
                rows.append("| `" + path + ' ' + name + "` | "
                        + String.join(
                                " ", command.getCommandSpec().usageMessage().description()) + " |\n");
            }
        });
        return rows.toString();
    }
}
