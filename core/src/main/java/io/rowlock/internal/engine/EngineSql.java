package io.rowlock.internal.engine;

import io.rowlock.internal.sql.AlertSql;
import io.rowlock.internal.sql.CancelRequestSql;
import io.rowlock.internal.sql.ClaimSql;
import io.rowlock.internal.sql.DueSql;
import io.rowlock.internal.sql.KeySql;
import io.rowlock.internal.sql.KeyedClaimSql;
import io.rowlock.internal.sql.LimitSql;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.OneJobSql;
import io.rowlock.internal.sql.OutcomeSql;
import io.rowlock.internal.sql.PromoteSql;
import io.rowlock.internal.sql.PruneSql;
import io.rowlock.internal.sql.QueueSql;
import io.rowlock.internal.sql.RetakeSql;
import io.rowlock.internal.sql.SweepSql;

/** The statements an engine uses. */
record EngineSql(
        ClaimSql claims,
        KeyedClaimSql keyedClaims,
        KeySql keys,
        SweepSql sweeps,
        OutcomeSql outcomes,
        OneJobSql oneJob,
        AlertSql alerts,
        PruneSql prunes,
        RetakeSql retakes,
        LimitSql limits,
        PromoteSql promotes,
        DueSql due,
        QueueSql queues,
        CancelRequestSql cancelRequests) {
    static EngineSql of(Names names) {
        return new EngineSql(
                new ClaimSql(names),
                new KeyedClaimSql(names),
                new KeySql(names),
                new SweepSql(names),
                new OutcomeSql(names),
                new OneJobSql(names),
                new AlertSql(names),
                new PruneSql(names),
                new RetakeSql(names),
                new LimitSql(names),
                new PromoteSql(names),
                new DueSql(names),
                new QueueSql(names),
                new CancelRequestSql(names));
    }
}
