package io.rowlock.cli;

/** Where the runnable jar begins. */
public final class Main {
    private Main() {}

    /**
     * Runs one command and ends the JVM with its exit code.
     *
     * @param args the command and its options
     */
    public static void main(String[] args) {
        if (System.getProperty("org.slf4j.simpleLogger.defaultLogLevel") == null) {
            System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
        }
        for (String each : args) {
            if (each.indexOf('\uFFFD') >= 0) {
                System.err.println(
                        "An argument has letters that this terminal's locale cannot say, and would name something else;"
                                + " set LC_ALL=C.UTF-8 (argument=" + each + ")");
                System.exit(ExitCode.USAGE);
            }
        }
        System.exit(RowlockCommand.line(Surroundings.ofThisProcess()).execute(args));
    }
}
