package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.EntityChange;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import jakarta.persistence.Cacheable;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.hibernate.Hibernate;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.Cache;
import org.hibernate.annotations.CacheConcurrencyStrategy;
import org.hibernate.boot.spi.SessionFactoryOptions;
import org.hibernate.cache.cfg.spi.DomainDataRegionBuildingContext;
import org.hibernate.cache.cfg.spi.DomainDataRegionConfig;
import org.hibernate.cache.spi.support.DomainDataStorageAccess;
import org.hibernate.cache.spi.support.RegionFactoryTemplate;
import org.hibernate.cache.spi.support.StorageAccess;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Entities that come from the second-level cache are as good as those that come from the database. */
@Corner("Mappings")
@Tag("B35")
final class CachedIT extends ProviderTest {
    @Kind("told")
    record Told(String text) {}

    @Entity(name = "Product")
    @Table(name = "product")
    @Cacheable
    @Cache(usage = CacheConcurrencyStrategy.READ_WRITE)
    static class Product {
        @Id
        int id;

        String name = "old";

        @ElementCollection
        @Cache(usage = CacheConcurrencyStrategy.READ_WRITE)
        Set<String> tags = new HashSet<>(Set.of("a"));

        @OutboxJob(
                on = {Change.UPDATE, Change.REMOVE},
                changed = {"name", "tags"})
        Told told(EntityChange<Product> change) {
            return new Told(change.operation() + " " + change.oldValue("name") + "->" + change.newValue("name") + " "
                    + new TreeSet<>(change.dirtyAttributes()));
        }
    }

    CachedIT(TestSchema schema) {
        super(schema, Product.class);
        unit.with("jakarta.persistence.sharedCache.mode", "ENABLE_SELECTIVE")
                .with("hibernate.cache.use_second_level_cache", true)
                .with("hibernate.cache.region.factory_class", InMemory.class.getName())
                .with("hibernate.generate_statistics", true);
    }

    @Test
    @Corner("second-level cache: what comes from it has its jobs and old values, collections too")
    void cached() throws Exception {
        Product product = new Product();
        unit.commit(em -> em.persist(product));
        unit.commit(em -> Hibernate.initialize(em.find(Product.class, 0).tags));
        unit.commit(em -> em.find(Product.class, 0).name = "new");
        unit.commit(em -> em.find(Product.class, 0).tags.add("b"));
        unit.commit(em -> em.remove(em.find(Product.class, 0)));
        assertThat(unit.factory().unwrap(SessionFactory.class).getStatistics().getSecondLevelCacheHitCount())
                .isGreaterThanOrEqualTo(4);
        assertThat(texts("told"))
                .containsExactly("UPDATE old->new [name]", "UPDATE new->new [tags]", "REMOVE new->null []");
    }

    /** The smallest cache there is. */
    public static final class InMemory extends RegionFactoryTemplate {
        private static final long serialVersionUID = 1L;

        @Override
        protected StorageAccess createQueryResultsRegionStorageAccess(
                String region, SessionFactoryImplementor factory) {
            return new InMap();
        }

        @Override
        protected StorageAccess createTimestampsRegionStorageAccess(String region, SessionFactoryImplementor factory) {
            return new InMap();
        }

        @Override
        protected DomainDataStorageAccess createDomainDataStorageAccess(
                DomainDataRegionConfig config, DomainDataRegionBuildingContext context) {
            return new InMap();
        }

        @Override
        protected void prepareForUse(SessionFactoryOptions options, Map<String, Object> settings) {}

        @Override
        protected void releaseFromUse() {}
    }

    private static final class InMap implements DomainDataStorageAccess {
        private final Map<Object, Object> entries = new ConcurrentHashMap<>();

        @Override
        public boolean contains(Object key) {
            return entries.containsKey(key);
        }

        @Override
        public Object getFromCache(Object key, SharedSessionContractImplementor session) {
            return entries.get(key);
        }

        @Override
        public void putIntoCache(Object key, Object value, SharedSessionContractImplementor session) {
            entries.put(key, value);
        }

        @Override
        public void evictData() {
            entries.clear();
        }

        @Override
        public void evictData(Object key) {
            entries.remove(key);
        }

        @Override
        public void release() {
            entries.clear();
        }
    }
}
