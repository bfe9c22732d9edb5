package io.rowlock.saga.internal.engine;

import io.rowlock.saga.internal.sql.RecordSql;
import io.rowlock.spi.TransactionRunner;
import java.sql.Connection;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;

/**
 * What all drives of one worker share.
 *
 * @param ledger reads and records
 * @param records the same, for transactional steps in their own transactions
 * @param codec states as JSON
 * @param relations alerts, children, parents
 * @param transactions opens plain JDBC transactions
 * @param timer finds attempts that take too long
 * @param crew runs steps of branches beside each other, and records what took too long
 */
public record Parts(
        Ledger ledger,
        RecordSql records,
        StateCodec codec,
        Relations relations,
        TransactionRunner<Connection> transactions,
        ScheduledExecutorService timer,
        ExecutorService crew) {}
