package io.rowlock.cli;

import io.rowlock.Rowlock;
import io.rowlock.checkup.Finding;
import io.rowlock.checkup.Severity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Everything outside of Rowlock that its promises stand on. */
@Command(
        name = "checkup",
        description = {
            "Looks for what is wrong with the server, the tables, the rights, and with jobs that wait. Reads only.",
            "Timeouts and poolers are those of this command's connection: the application has rowlock.checkup() too.",
            "Ends with 1 if there is a PROBLEM or a WARNING."
        })
final class CheckupCommand extends Action {
    @Option(names = "--no-remarks", description = "Leave remarks out.")
    private boolean noRemarks;

    @Override
    int run(Rowlock rowlock, Printer out) {
        List<Finding> findings = new ArrayList<>(rowlock.checkup());
        if (noRemarks) {
            findings.removeIf(each -> each.severity() == Severity.REMARK);
        }
        if (out.json()) {
            List<List<@Nullable Object>> rows = new ArrayList<>();
            findings.forEach(each -> rows.add(
                    Arrays.asList(each.severity(), each.code(), each.seen(), each.matters(), placed(each.remedy()))));
            out.list(List.of("severity", "code", "seen", "matters", "remedy"), rows);
        }
        for (Finding each : findings) {
            out.say(each.severity() + " " + each.code());
            out.say("  seen: " + each.seen());
            out.say("  why:  " + each.matters());
            remedy(each, out);
            out.say("");
        }
        out.say(
                findings.isEmpty()
                        ? "Nothing was found."
                        : findings.size() + (findings.size() == 1 ? " finding." : " findings."));
        out.text("");
        if (findings.stream().anyMatch(each -> each.code().equals("unreachable"))) {
            out.note("Where the database is, says " + whence() + '.');
            return ExitCode.DATABASE;
        }
        return findings.stream().allMatch(each -> each.severity() == Severity.REMARK)
                ? ExitCode.FINE
                : ExitCode.REFUSED;
    }

    /** Line by line, as it is typed. */
    private void remedy(Finding finding, Printer out) {
        String begin = "  do:   ";
        for (String line : placed(finding.remedy()).lines().toList()) {
            out.say(begin + line);
            begin = "        ";
        }
    }
}
