package io.rowlock.checkup;

/** How much a finding weighs; the heaviest first. */
public enum Severity {
    /** Jobs are not done, may be lost, or may be done under a promise that does not hold: act now. */
    PROBLEM,
    /** It works, but will hurt: act soon. */
    WARNING,
    /** To know; nothing need be done. */
    REMARK
}
