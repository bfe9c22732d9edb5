package io.rowlock.internal.schema;

import io.rowlock.error.DatabaseException;
import io.rowlock.error.InvalidUseException;
import io.rowlock.error.SchemaException;
import io.rowlock.internal.sql.Names;
import io.rowlock.internal.sql.SchemaSql;
import io.rowlock.spi.ConnectionSource;
import io.rowlock.spi.PersistenceUnitBinding;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The start-up check of a persistence unit: it must write to the database in which Rowlock looks for jobs (P1). */
public final class UnitProbe {
    private final Names names;
    private final SchemaSql schema;

    public UnitProbe(Names names) {
        this.names = names;
        this.schema = new SchemaSql(names);
    }

    private record Sight(String database, int version) {}

    /** Throws if the unit's jobs would go where no worker looks; without connections of its own, if there are no tables. */
    public void check(PersistenceUnitBinding binding, Object unit, @Nullable ConnectionSource own) {
        try {
            List<Sight> seen = new ArrayList<>();
            binding.look(unit, connection -> seen.add(look(connection)));
            for (Sight byUnit : seen) {
                if (own != null) {
                    compare(byUnit, own);
                } else if (byUnit.version() == 0) {
                    throw new SchemaException(
                            "The persistence unit finds no tables of Rowlock in schema " + names.schema()
                                    + "; install them, or set the unit's property rowlock.schema to where they are",
                            List.of("table " + names.table("schema") + " is missing in " + byUnit.database()));
                }
            }
        } catch (SQLException e) {
            throw new DatabaseException(
                    "The database could not be asked whether the persistence unit and Rowlock's data"
                            + " source lead to the same place",
                    e);
        }
    }

    private void compare(Sight byUnit, ConnectionSource own) throws SQLException {
        try (Connection connection = own.get()) {
            Sight byRowlock = look(connection);
            if (!byRowlock.database().equals(byUnit.database())) {
                throw new InvalidUseException("The persistence unit writes to database " + byUnit.database()
                        + ", but Rowlock's data source leads to " + byRowlock.database()
                        + ": jobs would be written where no worker looks. Give both the same database");
            }
        }
    }

    private Sight look(Connection connection) throws SQLException {
        return new Sight(schema.database(connection), schema.version(connection));
    }
}
