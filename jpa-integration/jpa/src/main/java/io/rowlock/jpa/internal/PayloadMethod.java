package io.rowlock.jpa.internal;

import io.rowlock.jpa.Change;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A payload method that {@link PayloadSignature} found right. */
final class PayloadMethod implements PayloadSource {
    private final Method method;
    private final Class<?> payloadType;
    private final boolean takesChange;

    PayloadMethod(Method method, Class<?> payloadType) {
        this.method = method;
        this.payloadType = payloadType;
        this.takesChange = method.getParameterCount() == 1;
    }

    @Override
    public Class<?> payloadType() {
        return payloadType;
    }

    @Override
    public List<?> payloads(ChangedEntity changed, Change change) {
        String where = "Payload method " + method.getDeclaringClass().getSimpleName() + "." + method.getName()
                + "() for " + changed.described();
        return Payloads.checked(where, payloadType, () -> call(changed, change));
    }

    private @Nullable Object call(ChangedEntity changed, Change change) throws Exception {
        try {
            return takesChange
                    ? method.invoke(changed.entity(), new RuleChange(changed, change))
                    : method.invoke(changed.entity());
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception thrown) {
                throw thrown;
            }
            throw (Error) e.getCause();
        }
    }
}
