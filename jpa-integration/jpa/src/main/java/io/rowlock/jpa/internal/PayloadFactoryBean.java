package io.rowlock.jpa.internal;

import io.rowlock.error.RowlockException;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.PayloadFactory;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A payload factory that {@link FactorySignature} found right: made at first use, as beans may not be ready before. */
final class PayloadFactoryBean implements PayloadSource {
    private final Class<? extends PayloadFactory<?, ?>> type;
    private final Class<?> payloadType;
    private final BeanSource beans;
    private volatile @Nullable PayloadFactory<?, ?> made;

    PayloadFactoryBean(Class<? extends PayloadFactory<?, ?>> type, Class<?> payloadType, BeanSource beans) {
        this.type = type;
        this.payloadType = payloadType;
        this.beans = beans;
    }

    @Override
    public Class<?> payloadType() {
        return payloadType;
    }

    @Override
    public List<?> payloads(ChangedEntity changed, Change change) {
        String where = "Payload factory " + type.getSimpleName() + " for " + changed.described();
        return Payloads.checked(where, payloadType, () -> call(new RuleChange(changed, change)));
    }

    /** The signature was checked at start-up: the factory takes changes of this entity. */
    @SuppressWarnings("unchecked")
    private @Nullable Object call(EntityChange<?> change) {
        return ((PayloadFactory<Object, ?>) factory()).payloads((EntityChange<Object>) change);
    }

    private PayloadFactory<?, ?> factory() {
        PayloadFactory<?, ?> factory = made;
        if (factory == null) {
            synchronized (this) {
                factory = made;
                if (factory == null) {
                    factory = make();
                    made = factory;
                }
            }
        }
        return factory;
    }

    private PayloadFactory<?, ?> make() {
        try {
            return beans.bean(type);
        } catch (RuntimeException e) {
            throw new RowlockException(
                    "Payload factory " + type.getName() + " could not be made; it must be a managed bean, or have a"
                            + " constructor without parameters",
                    e);
        }
    }
}
