package io.rowlock.hibernate;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Objects by their identity, none of which is kept by being here. For one thread. */
final class WeakObjects {
    private final Set<Key> keys = new HashSet<>();
    private final ReferenceQueue<Object> gone = new ReferenceQueue<>();

    private static final class Key extends WeakReference<Object> {
        private final int hash;

        Key(Object object, @Nullable ReferenceQueue<Object> gone) {
            super(object, gone);
            this.hash = System.identityHashCode(object);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            Object mine = get();
            return this == other || (mine != null && other instanceof Key key && mine == key.get());
        }
    }

    void add(Object object) {
        for (Reference<?> each = gone.poll(); each != null; each = gone.poll()) {
            keys.remove(each);
        }
        keys.add(new Key(object, gone));
    }

    boolean contains(Object object) {
        return keys.contains(new Key(object, null));
    }

    void clear() {
        keys.clear();
    }
}
