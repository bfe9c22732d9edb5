package io.rowlock.hibernate;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.internal.EntityJobs;
import io.rowlock.jpa.internal.EntityRules;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import org.hibernate.boot.Metadata;
import org.hibernate.mapping.Column;
import org.hibernate.mapping.Join;
import org.hibernate.mapping.PersistentClass;
import org.hibernate.mapping.Table;
import org.hibernate.mapping.UnionSubclass;
import org.jspecify.annotations.Nullable;

/**
 * In which tables the rows of annotated entities lie, so that a statement on a table is told as one on entities. Which of
 * several entities in one table it means, its text does not tell: it is told of all.
 */
final class EntityTables {
    /**
     * One entity.
     *
     * @param own the table of its own attributes
     * @param tables all tables that hold a part of its rows
     * @param hierarchy all tables of the inheritance it belongs to
     * @param columns of each column the attributes, or paths, that it stores
     * @param deleted the column that marks a row as deleted, or null
     */
    private record Place(
            EntityRules rules,
            String own,
            Set<String> tables,
            Set<String> hierarchy,
            Map<String, Set<String>> columns,
            @Nullable String deleted) {}

    /** Hears what a statement does to one entity. */
    interface Reach {
        /**
         * A statement makes such a change.
         *
         * @param kinds the kinds of the jobs that are not made
         */
        void to(EntityRules rules, Change change, SortedSet<String> kinds);
    }

    private final List<Place> places;
    private final TableReferences references;

    private EntityTables(List<Place> places, TableReferences references) {
        this.places = List.copyOf(places);
        this.references = references;
    }

    static EntityTables of(Metadata metadata, EntityJobs jobs) {
        List<Place> places = new ArrayList<>();
        for (PersistentClass entity : metadata.getEntityBindings()) {
            EntityRules rules = jobs.rules(entity.getEntityName());
            if (rules != null) {
                Set<String> hierarchy = new HashSet<>();
                metadata.getEntityBindings().stream()
                        .filter(each -> each.getRootClass() == entity.getRootClass())
                        .forEach(each -> hierarchy.addAll(tables(each)));
                Column deleted = entity.getRootClass().getSoftDeleteColumn();
                places.add(new Place(
                        rules,
                        name(entity.getTable()),
                        tables(entity),
                        hierarchy,
                        EntityColumns.of(entity),
                        deleted == null ? null : deleted.getName()));
            }
        }
        return new EntityTables(places, TableReferences.of(metadata));
    }

    /** With a table for each class, a row lies in the table of its class alone; else in those of its superclasses too. */
    private static Set<String> tables(PersistentClass entity) {
        Set<String> tables = new HashSet<>();
        tables.add(name(entity.getTable()));
        if (!(entity instanceof UnionSubclass)) {
            entity.getTableClosure().forEach(table -> tables.add(name(table)));
        }
        for (Join join : entity.getJoinClosure()) {
            tables.add(name(join.getTable()));
        }
        return tables;
    }

    static String name(Table table) {
        String schema = table.getSchema();
        return TouchedTable.normal(schema == null ? table.getName() : schema + "." + table.getName());
    }

    /** Tells what a statement does to annotated entities, as far as their rules are about it. */
    void forEach(List<TouchedTable> named, Reach reach) {
        List<TouchedTable> touched = references.withReferring(named);
        for (Place place : places) {
            List<TouchedTable> own = touched.stream()
                    .filter(each -> isIn(place.tables(), each) && means(place, touched))
                    .toList();
            Set<Change> changes = EnumSet.noneOf(Change.class);
            own.forEach(each -> changes.addAll(changes(place, each)));
            for (Change change : changes) {
                SortedSet<String> kinds = place.rules().kinds(change, dirty(place, own));
                if (!kinds.isEmpty()) {
                    reach.to(place.rules(), change, kinds);
                }
            }
        }
    }

    /** The attributes that get a value, or null where it is not sure that these are all. */
    private static @Nullable Set<String> dirty(Place place, List<TouchedTable> touched) {
        Set<String> dirty = new HashSet<>();
        for (TouchedTable each : touched) {
            if (each.changes().contains(Change.UPDATE)) {
                if (each.columns() == null || !place.columns().keySet().containsAll(each.columns())) {
                    return null;
                }
                each.columns().forEach(column -> dirty.addAll(place.columns().get(column)));
            }
        }
        return dirty;
    }

    /**
     * A statement on several joined tables of an inheritance means the entities that it goes down to: with Cat and Dog
     * beside each other, one on the tables of Animal and Cat means no Dog.
     */
    private static boolean means(Place place, List<TouchedTable> touched) {
        return touched.stream().anyMatch(each -> each.is(place.own()))
                || touched.stream()
                        .filter(each -> isIn(place.hierarchy(), each))
                        .allMatch(each -> isIn(place.tables(), each));
    }

    private static boolean isIn(Set<String> tables, TouchedTable touched) {
        return tables.stream().anyMatch(touched::is);
    }

    /** Hibernate deletes a row softly by an update of the column that marks it. */
    private static Set<Change> changes(Place place, TouchedTable touched) {
        boolean softly = place.deleted() != null
                && touched.changes().contains(Change.UPDATE)
                && touched.assigns(place.deleted());
        if (!softly) {
            return touched.changes();
        }
        boolean alone = touched.columns() != null && touched.columns().size() == 1;
        return alone ? Set.of(Change.REMOVE) : Set.of(Change.UPDATE, Change.REMOVE);
    }
}
