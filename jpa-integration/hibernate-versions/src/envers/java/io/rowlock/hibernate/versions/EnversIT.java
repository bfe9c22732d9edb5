package io.rowlock.hibernate.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.testkit.postgres.TestSchema;
import io.rowlock.testkit.providers.Corner;
import io.rowlock.testkit.providers.ProviderTest;
import io.rowlock.testkit.providers.ProviderUnit;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hibernate.envers.Audited;
import org.hibernate.envers.strategy.internal.ValidityAuditStrategy;
import org.junit.jupiter.api.Test;

/** Audited entities have their audit rows and their jobs, and audit rows have none. */
@Corner("Envers")
final class EnversIT extends ProviderTest {
    @Entity(name = "Contract")
    @Table(name = "contract")
    @Audited
    @OutboxJob(
            kind = "contract",
            on = {Change.PERSIST, Change.UPDATE, Change.REMOVE})
    static class Contract {
        @Id
        int id;

        String text = "";

        @ElementCollection
        Set<String> parties = new HashSet<>();
    }

    EnversIT(TestSchema schema) {
        super(schema, Contract.class);
    }

    private static void persist(EntityManager em) {
        Contract contract = new Contract();
        contract.parties.add("Ada");
        em.persist(contract);
    }

    /** The revision types of the audit rows: 0 added, 1 modified, 2 deleted. */
    private List<Integer> audited(TestSchema where) throws Exception {
        return where.list(Integer.class, "SELECT revtype::int FROM contract_aud ORDER BY rev");
    }

    private static void change(ProviderUnit unit) {
        unit.commit(EnversIT::persist);
        unit.commit(em -> em.find(Contract.class, 0).text = "x");
        unit.commit(em -> em.find(Contract.class, 0).parties.add("Eve"));
        unit.commit(em -> em.remove(em.find(Contract.class, 0)));
    }

    @Test
    @Corner("a job and an audit row for each change, by one transaction")
    void audited_entity() throws Exception {
        change(unit);
        assertThat(audited(schema)).containsExactly(0, 1, 1, 2);
        assertThat(changes())
                .containsExactly("Contract 0 PERSIST", "Contract 0 REMOVE", "Contract 0 UPDATE", "Contract 0 UPDATE");
        assertThat(kinds()).hasSize(4);
        assertThat(schema.list(String.class, "SELECT DISTINCT xmin::text FROM rowlock_job ORDER BY 1"))
                .hasSize(4)
                .containsExactlyElementsOf(
                        schema.list(String.class, "SELECT DISTINCT xmin::text FROM contract_aud ORDER BY 1"));
    }

    @Test
    @Corner("ValidityAuditStrategy: a job and an audit row for each change")
    void validity_strategy() throws Exception {
        TestSchema second = TestSchema.create(schema.server(), "validity");
        try (second;
                ProviderUnit other = ProviderUnit.on(second, Contract.class)
                        .with("org.hibernate.envers.audit_strategy", ValidityAuditStrategy.class.getName())) {
            install(second);
            change(other);
            assertThat(audited(second)).containsExactly(0, 1, 1, 2);
            assertThat(second.list(String.class, "SELECT payload->>'change' FROM rowlock_job ORDER BY id"))
                    .containsExactly("PERSIST", "UPDATE", "UPDATE", "REMOVE");
        }
    }

    @Test
    @Corner("an audited change rolled back: neither audit row nor job")
    void rolled_back() throws Exception {
        unit.rollBack(em -> {
            persist(em);
            em.flush();
        });
        assertThat(audited(schema)).isEmpty();
        assertThat(changes()).isEmpty();
        unit.commit(EnversIT::persist);
        assertThat(audited(schema)).hasSize(1);
        assertThat(changes()).hasSize(1);
    }
}
