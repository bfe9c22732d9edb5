package io.rowlock.internal.outbox;

import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.SerializationConfig;
import com.fasterxml.jackson.databind.ser.BeanPropertyWriter;
import com.fasterxml.jackson.databind.ser.BeanSerializerModifier;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.List;

/**
 * Refuses a bean that has fields and would be written as {@code {}}: its data would be lost without a word. Jackson's
 * own check asks for more: any annotation on the class, {@code @Kind} too, switches it off.
 */
final class EmptyBeans extends BeanSerializerModifier {
    private static final long serialVersionUID = 1L;

    /** Called once per class, before the first object of it is written. */
    @Override
    public List<BeanPropertyWriter> changeProperties(
            SerializationConfig config, BeanDescription bean, List<BeanPropertyWriter> properties) {
        Class<?> type = bean.getBeanClass();
        if (properties.isEmpty() && bean.findAnyGetter() == null && !type.isRecord() && hasFields(type)) {
            throw new IllegalArgumentException(
                    type.getName() + " would be written as {}, its fields are lost: private fields without a getter are"
                            + " not written. Make it a record, or give it getters or public fields; what shall be left"
                            + " out is transient");
        }
        return properties;
    }

    private static boolean hasFields(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())
                        && !Modifier.isTransient(field.getModifiers())
                        && !field.isSynthetic()) {
                    return true;
                }
            }
        }
        return false;
    }
}
