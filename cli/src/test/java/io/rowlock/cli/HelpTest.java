package io.rowlock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Every command explains itself. */
final class HelpTest {
    private static CommandLine line() {
        return RowlockCommand.line(new Surroundings(Map.of(), "tester", () -> null));
    }

    private static void collect(CommandLine line, List<CommandLine> all) {
        all.add(line);
        line.getSubcommands().values().forEach(each -> collect(each, all));
    }

    @Test
    void every_command_and_option_has_a_description() {
        List<CommandLine> all = new ArrayList<>();
        collect(line(), all);

        assertThat(all).hasSizeGreaterThan(25).allSatisfy(each -> {
            assertThat(each.getCommandSpec().usageMessage().description())
                    .as(each.getCommandName())
                    .isNotEmpty();
            assertThat(each.getCommandSpec().options())
                    .allSatisfy(option -> assertThat(option.description())
                            .as(option.longestName())
                            .isNotEmpty());
        });
    }

    /** A list of commands shows the first line only. */
    @Test
    void the_first_line_of_a_description_is_a_whole_sentence() {
        List<CommandLine> all = new ArrayList<>();
        collect(line(), all);

        assertThat(all)
                .filteredOn(each -> !each.getCommandName().equals("help"))
                .allSatisfy(
                        each -> assertThat(each.getCommandSpec().usageMessage().description()[0])
                                .as(each.getCommandName())
                                .endsWith("."));
    }

    @Test
    void one_idea_has_one_name() {
        List<CommandLine> all = new ArrayList<>();
        collect(line(), all);

        assertThat(all)
                .allSatisfy(each -> assertThat(each.getCommandSpec().optionsMap())
                        .doesNotContainKeys("--most", "--max", "--reason", "--by"));
    }

    @Test
    void options_of_the_database_stand_anywhere_and_others_are_told_where_they_stand() {
        StringWriter err = new StringWriter();
        assertThat(line().setErr(new PrintWriter(err, true)).execute("--kind", "mail", "jobs", "find"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("--kind", "behind its name", "rowlock --help");
        assertThat(line().setOut(new PrintWriter(new StringWriter()))
                        .execute("--schema", "shop", "schema", "--prefix", "app_", "script"))
                .isZero();
        StringWriter out = new StringWriter();
        assertThat(line().setOut(new PrintWriter(out)).execute("schema", "script", "--schema", "shop"))
                .isZero();
        assertThat(out.toString()).contains("\"shop\".rowlock_job");
    }

    @Test
    void what_changes_something_asks_why() {
        for (String[] command : List.of(
                new String[] {"jobs", "cancel", "1"},
                new String[] {"queues", "pause", "mail"},
                new String[] {"schedules", "run", "nightly"},
                new String[] {"leases", "revoke", "billing"},
                new String[] {"answers", "show", "k", "--principal", "ada"},
                new String[] {"answers", "redact", "ada"},
                new String[] {"sagas", "retry", "42"})) {
            StringWriter err = new StringWriter();
            assertThat(line().setErr(new PrintWriter(err, true)).execute(command))
                    .isEqualTo(ExitCode.USAGE);
            assertThat(err.toString()).contains("--why");
        }
    }

    @Test
    void help_of_a_command_is_that_of_its_last_word() {
        StringWriter out = new StringWriter();
        assertThat(line().setOut(new PrintWriter(out, true)).execute("help", "jobs", "revive"))
                .isZero();
        assertThat(out.toString()).startsWith("Usage: rowlock jobs revive ").contains("at most 200 characters");
        StringWriter all = new StringWriter();
        assertThat(line().setOut(new PrintWriter(all, true)).execute("help")).isZero();
        assertThat(all.toString()).startsWith("Usage: rowlock ").contains("At three in the morning");
        StringWriter err = new StringWriter();
        assertThat(line().setErr(new PrintWriter(err, true)).execute("help", "jobs", "revve"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("no command rowlock jobs revve", "revive");
    }

    @Test
    void a_misspelt_command_suggests_the_right_one() {
        StringWriter err = new StringWriter();
        assertThat(line().setErr(new PrintWriter(err, true)).execute("chekup")).isEqualTo(ExitCode.USAGE);
        assertThat(err.toString()).contains("checkup");
    }

    @Test
    void help_says_what_to_type_at_night_and_how_commands_end() {
        StringWriter out = new StringWriter();
        assertThat(line().setOut(new PrintWriter(out, true)).execute("--help")).isZero();
        assertThat(out.toString()).contains("rowlock checkup", "Exit codes: 0 fine");
        StringWriter group = new StringWriter();
        assertThat(line().setErr(new PrintWriter(group, true)).execute("jobs")).isEqualTo(ExitCode.USAGE);
        assertThat(group.toString()).contains("Say what is to be done: one of find, show");
    }
}
