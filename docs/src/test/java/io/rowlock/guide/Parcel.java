package io.rowlock.guide;

// tag::entity
import io.rowlock.job.Kind;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.Optional;

@Entity
@Table(name = "parcels")
public class Parcel {
    @Kind("parcel-shipped") // the job's name in the database; the class may be renamed and moved
    public record Shipped(long parcel) {}

    @Id
    @GeneratedValue
    private Long id;

    private String status = "packed";
    private String note = "";

    public void ship() {
        status = "shipped";
    }

    public void note(String text) {
        note = text;
    }

    public Long id() {
        return id;
    }

    @OutboxJob(on = Change.UPDATE, changed = "status")
    Optional<Shipped> shipped() { // called by Rowlock after the UPDATE; private is fine too
        return status.equals("shipped") ? Optional.of(new Shipped(id)) : Optional.empty();
    }
}
// end::entity
