package io.rowlock.hibernate;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hibernate.boot.Metadata;
import org.hibernate.mapping.ForeignKey;
import org.hibernate.mapping.Table;

/** Which tables refer to which by foreign keys, as far as the unit maps them: {@code truncate … cascade} goes that way. */
final class TableReferences {
    private record Reference(String from, String to) {}

    private final List<Reference> references;

    private TableReferences(List<Reference> references) {
        this.references = List.copyOf(references);
    }

    static TableReferences of(Metadata metadata) {
        List<Reference> references = new ArrayList<>();
        for (Table table : metadata.collectTableMappings()) {
            for (ForeignKey key : table.getForeignKeys().values()) {
                if (key.getReferencedTable() != null) {
                    references.add(
                            new Reference(EntityTables.name(table), EntityTables.name(key.getReferencedTable())));
                }
            }
        }
        return new TableReferences(references);
    }

    /** These tables, and those that are emptied with them. */
    List<TouchedTable> withReferring(List<TouchedTable> touched) {
        List<TouchedTable> all = new ArrayList<>(touched);
        Deque<TouchedTable> open = new ArrayDeque<>();
        touched.stream().filter(TouchedTable::cascades).forEach(open::add);
        Set<String> seen = new HashSet<>();
        while (!open.isEmpty()) {
            TouchedTable emptied = open.remove();
            for (Reference reference : references) {
                if (emptied.is(reference.to()) && seen.add(reference.from())) {
                    TouchedTable next = TouchedTable.emptied(reference.from(), true);
                    all.add(next);
                    open.add(next);
                }
            }
        }
        return all;
    }
}
