package io.rowlock.internal.checkup;

import static io.rowlock.checkup.Severity.PROBLEM;
import static io.rowlock.checkup.Severity.REMARK;
import static io.rowlock.checkup.Severity.WARNING;

import io.rowlock.checkup.Finding;
import io.rowlock.checkup.Severity;
import java.util.Locale;

/**
 * Everything a checkup may find. A name in lower case with hyphens is the finding's code: scripts know it, so a name is
 * never changed. One severity each; what weighs more in some cases is another symptom.
 */
public enum Symptom {
    UNREACHABLE(PROBLEM, "Nothing works without the database; nothing else could be looked at."),
    SERVER_TOO_OLD(PROBLEM, "Rowlock's statements need PostgreSQL 14 or newer."),
    IN_RECOVERY(PROBLEM, "A standby takes no writes: nothing is enqueued, claimed or recorded here."),
    READ_ONLY(PROBLEM, "Connections that begin read-only can neither enqueue nor work."),
    TRANSACTION_POOLER(
            PROBLEM,
            "No session is a worker's there: it hears no notifications, bounds its waits for locks by the network timeout"
                    + " alone, and what the driver prepares by name may be taken for another client's statement."),
    SECOND_CONNECTION(WARNING, "A worker holds three connections, and one more for each transactional handler."),
    DEFAULT_ISOLATION(
            REMARK,
            "Rowlock sets its own transactions to READ COMMITTED; an enqueue with a dedup key in yours is refused under"
                    + " REPEATABLE READ and above."),
    CONNECT_TIMEOUT(WARNING, "A loop that connects to a dead host waits for ever, and its leases run out meanwhile."),
    SILENT_CONNECTION(
            REMARK,
            "A connection whose server vanished without a word blocks your enqueue until TCP gives up, for a quarter of an"
                    + " hour or more. Rowlock bounds its own three connections by itself."),
    SHORT_SOCKET_TIMEOUT(
            WARNING, "A transactional handler's statement that takes longer loses its connection, and the attempt."),
    STATEMENT_TIMEOUT(
            WARNING, "Under load the engine's statements may take longer, and are then done again and again."),
    IDLE_SESSION_TIMEOUT(
            WARNING, "The engine's connections are idle while there is little to do; each is lost and opened again."),
    IDLE_TRANSACTION_TIMEOUT(
            REMARK, "A transactional handler that computes for longer between two statements is cut off."),
    TRANSACTION_TIMEOUT(WARNING, "A transactional handler that takes longer is cut off, each time."),
    CONNECTIONS_FEW(WARNING, "A worker that gets no connection keeps no leases; its jobs run again elsewhere."),
    FSYNC_OFF(PROBLEM, "A crash of the machine may corrupt the database: jobs, tokens and your rows."),
    FULL_PAGE_WRITES_OFF(PROBLEM, "A crash in the middle of a page write may corrupt tables and indexes."),
    ASYNCHRONOUS_COMMIT(
            WARNING,
            "After a crash the last commits are gone: a token that was given to the outside may be given again to another"
                    + " owner, and a job that was completed runs once more."),
    ASYNCHRONOUS_STANDBY(
            WARNING,
            "A failover may lose the last commits: a token that was given to the outside may be given again, and jobs that"
                    + " were promised may be missing."),
    SYNCHRONOUS_STANDBY_MISSING(PROBLEM, "Every commit waits for a standby that is not connected."),
    AUTOVACUUM_OFF(PROBLEM, "Nothing removes dead rows: each job leaves several, and every claim walks over them."),
    AUTOVACUUM_OFF_FOR_TABLE(PROBLEM, "Nothing removes this table's dead rows, and every claim walks over them."),
    TABLE_OPTION(WARNING, "The tables are made with options that keep claims cheap (HOT updates, early vacuums)."),
    DEAD_ROWS(WARNING, "Claims and sweeps walk over dead entries; autovacuum does not keep up or is held back."),
    TABLE_BLOAT(WARNING, "Scans and vacuums read pages that hold nothing; the space does not come back by itself."),
    INDEX_BLOAT(WARNING, "Claims read index pages that hold nothing; the space does not come back by itself."),
    OLD_TRANSACTION(
            WARNING, "No dead row younger than it can be removed, in any table: dead entries pile up until it ends."),
    PREPARED_TRANSACTION(WARNING, "It holds its locks and keeps dead rows until somebody ends it, over restarts too."),
    SLOT_HOLDS_BACK(WARNING, "No dead row younger than its horizon can be removed: dead entries pile up."),
    SLOT_INACTIVE(WARNING, "It keeps write-ahead log until the disk is full, and Rowlock writes much of it."),
    TABLES_MISSING(PROBLEM, "There is nothing to enqueue into; a worker does not start."),
    TABLES_DIFFER(PROBLEM, "A worker does not start on tables that are not what its statements need."),
    INDEX_MISSING(PROBLEM, "A worker does not start; without it statements walk the whole table."),
    INDEX_INVALID(PROBLEM, "The server does not use it, or does not keep it up; a worker does not start."),
    TABLE_UNLOGGED(PROBLEM, "A crash of the server empties the table, and a standby never has its rows."),
    REPLICA_IDENTITY(PROBLEM, "It is published, and without a replica identity the server refuses to change its rows."),
    FOREIGN_TRIGGER(WARNING, "It runs in every enqueue, claim and completion: it may slow, change or refuse them."),
    FOREIGN_RULE(WARNING, "It rewrites Rowlock's statements, whose update counts then mean something else."),
    ROW_SECURITY(WARNING, "Policies hide rows from roles that are not the owner: jobs that nobody sees are not done."),
    RIGHT_MISSING(PROBLEM, "Statements of the outbox, of workers or of people's operations are refused."),
    OWNER_ROLE(REMARK, "A role that runs workers needs to read and write rows only; this one may drop the tables."),
    CLOCK_SKEW(
            WARNING,
            "Only the database's clock decides when jobs run, but times in this node's log cannot be laid beside the rows."),
    KIND_LATE_WITHOUT_HANDLER(
            WARNING, "Nobody does these jobs: no worker here has a handler, and none elsewhere came."),
    KIND_WITHOUT_HANDLER(REMARK, "No worker here has a handler for them; perhaps another process has."),
    QUEUE_LATE_WITHOUT_WORKER(
            WARNING, "Nobody does these jobs: no worker here serves the queue, and none elsewhere came."),
    QUEUE_WITHOUT_WORKER(REMARK, "No worker here serves the queue; perhaps another process does."),
    HANDLER_WITHOUT_JOBS(REMARK, "Nothing of these kinds waits now. A kind that is never enqueued may be misspelt."),
    JOBS_LATE(WARNING, "They are due and nobody works on them: too few workers, none running, or handlers that hang."),
    QUEUE_PAUSED_WITH_JOBS(WARNING, "Jobs wait that no worker claims until a person resumes the queue."),
    QUEUE_PAUSED(REMARK, "No worker claims its jobs until it is resumed."),
    DEAD_HEADS(WARNING, "All jobs behind a dead one with its ordering key wait until a person decides."),
    DEAD_LETTERS(REMARK, "Each waits for a person to revive it, or to leave it."),
    SCHEDULE_NOT_FIRING(WARNING, "Its jobs are not made, or not those that an application has declared."),
    NOT_CHECKED(REMARK, "What was not looked at may be wrong.");

    private final Severity severity;
    private final String matters;

    Symptom(Severity severity, String matters) {
        this.severity = severity;
        this.matters = matters;
    }

    /** The finding's code. */
    public String code() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public Severity severity() {
        return severity;
    }

    public String matters() {
        return matters;
    }

    Finding seen(String seen, String remedy) {
        return new Finding(severity, code(), seen, matters, remedy);
    }
}
