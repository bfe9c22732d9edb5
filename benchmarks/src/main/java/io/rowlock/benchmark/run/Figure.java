package io.rowlock.benchmark.run;

import java.util.List;

/**
 * A figure: a load that several contenders carry in turn, and what is to be reached between them.
 *
 * @param id its name on the command line and of its files
 * @param title what is measured
 * @param unit the unit of all values
 * @param contenders who carries it; the first one is Rowlock as it is
 * @param reaches what is to be reached
 * @param limitedBy what limits it, for the reader of the table
 * @param warmsUp whether a first, smaller round counts for nothing; false where each measurement warms up by itself
 */
public record Figure(
        String id,
        String title,
        String unit,
        List<Contender> contenders,
        List<Reach> reaches,
        String limitedBy,
        boolean warmsUp) {

    public Figure {
        contenders = List.copyOf(contenders);
        reaches = List.copyOf(reaches);
    }

    /** A figure that is measured behind a round that warms up. */
    public Figure(
            String id, String title, String unit, List<Contender> contenders, List<Reach> reaches, String limitedBy) {
        this(id, title, unit, contenders, reaches, limitedBy, true);
    }

    /** The same load, carried by these. */
    Figure with(List<Contender> others) {
        return new Figure(id, title, unit, others, reaches, limitedBy, warmsUp);
    }

    /** The same without a first round. */
    public Figure withoutWarmUp() {
        return new Figure(id, title, unit, contenders, reaches, limitedBy, false);
    }
}
