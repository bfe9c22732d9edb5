package io.rowlock.saga.internal.engine;

import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.RedactionSql;
import io.rowlock.saga.SagaOperations;
import io.rowlock.saga.internal.sql.FindSql;
import io.rowlock.saga.internal.sql.ForkSql;
import io.rowlock.saga.internal.sql.OperateSql;
import io.rowlock.saga.internal.sql.RedactSql;
import io.rowlock.saga.internal.sql.StartSql;
import io.rowlock.saga.internal.sql.TimelineSql;
import io.rowlock.saga.internal.sql.WishSql;
import io.rowlock.spi.RowlockParts;

/** Puts together what people do to sagas. */
final class OperationParts {
    private OperationParts() {}

    static SagaOperations operations(
            RowlockParts core,
            Names names,
            Definitions definitions,
            StateCodec codec,
            Wishes wishes,
            Restarts restarts) {
        Patience patience = new Patience(core);
        WishSql wishSql = new WishSql(names);
        OperateSql operateSql = new OperateSql(names);
        FindSql finds = new FindSql(names);
        return new RowSagaOperations(
                core,
                new RowSagaOperations.Deeds(
                        new Interventions(wishSql, operateSql, restarts, wishes, definitions, codec),
                        new Forks(
                                wishSql,
                                new ForkSql(names),
                                new StartSql(names),
                                operateSql,
                                restarts,
                                definitions,
                                codec),
                        new Redactions(new RedactSql(names), new RedactionSql(names), patience),
                        new Bulk(core, finds, patience),
                        wishes),
                new RowSagaOperations.Readings(finds, new TimelineSql(names), definitions),
                patience);
    }
}
