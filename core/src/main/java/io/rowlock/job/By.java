package io.rowlock.job;

/**
 * Who does something to jobs or queues, and why: every operation of a person says so, for those who ask later.
 *
 * @param who a person's or tool's name, 1 to 200 characters
 * @param why the reason, 1 to 200 characters
 */
public record By(String who, String why) {
    /**
     * Checks both.
     *
     * @throws io.rowlock.error.InvalidUseException if one is not allowed
     */
    public By {
        Texts.within("who", who, "shorten it");
        Texts.within(
                "why", why, "say it in short, and where the rest is to be read, as in INC-12: mail server is back");
    }
}
