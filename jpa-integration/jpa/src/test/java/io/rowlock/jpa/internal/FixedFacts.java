package io.rowlock.jpa.internal;

import java.util.Map;

/** Facts that a test knows. */
record FixedFacts(String id, String version, Map<String, Object> old, Map<String, Object> current)
        implements EntityFacts {
    FixedFacts(String id, String version) {
        this(id, version, Map.of(), Map.of());
    }

    @Override
    public boolean knowsOld(String path) {
        return old.containsKey(path);
    }

    @Override
    public Object old(String path) {
        return old.get(path);
    }

    @Override
    public boolean knowsCurrent(String path) {
        return current.containsKey(path);
    }

    @Override
    public Object current(String path) {
        return current.get(path);
    }

    @Override
    public boolean isUnchanged(String path) {
        return knowsOld(path) && old(path).equals(current(path));
    }

    @Override
    public RowName belongsTo(String path) {
        return current.containsKey(path) ? new RowName(path, String.valueOf(current.get(path))) : null;
    }

    @Override
    public EntityFacts since(EntityFacts earlier) {
        return new FixedFacts(id, version, ((FixedFacts) earlier).old, current);
    }

    @Override
    public Runnable watch() {
        return () -> {};
    }
}
