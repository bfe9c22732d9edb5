package io.rowlock.hibernate;

import org.hibernate.generator.Generator;
import org.hibernate.metamodel.mapping.AttributeMapping;
import org.hibernate.metamodel.mapping.EmbeddableMappingType;
import org.hibernate.metamodel.mapping.EmbeddableValuedModelPart;
import org.hibernate.metamodel.mapping.ManagedMappingType;
import org.hibernate.persister.entity.EntityPersister;
import org.jspecify.annotations.Nullable;

/** Of which attributes an update of an entity writes columns. */
final class WrittenColumns {
    private final EntityPersister persister;
    private final boolean all;
    private final boolean lazy;

    WrittenColumns(EntityPersister persister, Object entity) {
        this.persister = persister;
        this.all = !persister.getEntityMetamodel().isDynamicUpdate();
        this.lazy = !persister.hasUninitializedLazyProperties(entity);
    }

    /** Whether an update may write an attribute. */
    boolean mayWrite(int index) {
        return persister.getPropertyUpdateability()[index];
    }

    /** Whether it writes an attribute that Hibernate takes for unchanged. */
    boolean writesUnchanged(int index) {
        return all && mayWrite(index) && (lazy || !persister.getPropertyLaziness()[index]);
    }

    /** Whether Hibernate itself makes a new value for an attribute at each update, as for an {@code @UpdateTimestamp}. */
    boolean isMadeAnew(int index) {
        Generator generator = persister.getEntityMetamodel().getGenerators()[index];
        return generator != null && generator.generatesOnUpdate() && !generator.generatedOnExecution();
    }

    /** Whether an update may write a part of an embedded object; true where it is not known. */
    boolean mayWrite(String path) {
        ManagedMappingType type = persister;
        AttributeMapping attribute = null;
        for (String name : path.split("\\.", -1)) {
            attribute = type == null ? null : type.findAttributeMapping(name);
            type = parts(attribute);
        }
        return attribute == null || isUpdated(attribute);
    }

    /** What an embedded object consists of; null where that is one column, as JSON, which is written whole. */
    private static @Nullable ManagedMappingType parts(@Nullable AttributeMapping attribute) {
        if (attribute instanceof EmbeddableValuedModelPart embedded) {
            EmbeddableMappingType parts = embedded.getEmbeddableTypeDescriptor();
            return parts.getAggregateMapping() == null ? parts : null;
        }
        return null;
    }

    private static boolean isUpdated(AttributeMapping attribute) {
        boolean[] updated = {false};
        attribute.forEachSelectable((index, column) -> updated[0] |= column.isUpdateable() && !column.isFormula());
        return updated[0];
    }
}
