package io.rowlock.fault;

import io.rowlock.job.JobContext;
import io.rowlock.job.Kind;
import io.rowlock.job.TransactionalJobHandler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** A job whose only effect is a row of table {@code effect}, written in the transaction that completes it. */
@Kind("booking")
record Booking(String name) {

    /** Writes the row. */
    static TransactionalJobHandler<Booking, Connection> handler(String who) {
        return (booking, job, connection) -> write(booking, job, connection, who);
    }

    private static void write(Booking booking, JobContext job, Connection connection, String who) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO effect (job_id, name, attempt, who) VALUES (?, ?, ?, ?)")) {
            insert.setLong(1, job.id());
            insert.setString(2, booking.name());
            insert.setInt(3, job.attempt());
            insert.setString(4, who);
            insert.executeUpdate();
        }
    }
}
