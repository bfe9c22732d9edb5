package io.rowlock.guide;

// tag::program
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;

import io.rowlock.Rowlock;
import io.rowlock.job.Kind;
import io.rowlock.job.RetryPolicy;
import io.rowlock.jpa.Change;
import io.rowlock.jpa.OutboxJob;
import io.rowlock.worker.Worker;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.concurrent.CountDownLatch;
import org.hibernate.jpa.HibernatePersistenceConfiguration;
import org.postgresql.ds.PGSimpleDataSource;

public class ReadmeExample {

    @Kind("order-confirmation") // the stable name of the job; the class may be renamed and moved
    public record OrderConfirmation(long order, String email) {}

    @Entity(name = "Order")
    @Table(name = "orders")
    public static class Order {
        @Id
        @GeneratedValue
        private Long id;

        private String email;

        protected Order() {}

        public Order(String email) {
            this.email = email;
        }

        @OutboxJob(on = Change.PERSIST) // written in the same transaction as the order, or not at all
        OrderConfirmation confirmation() {
            return new OrderConfirmation(id, email);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(args[0]); // jdbc:postgresql://localhost/shop?user=shop&password=...

        EntityManagerFactory emf = new HibernatePersistenceConfiguration("shop")
                .managedClass(Order.class)
                .property("hibernate.connection.datasource", dataSource)
                .property("hibernate.hbm2ddl.auto", "update")
                .createEntityManagerFactory();

        Rowlock rowlock =
                Rowlock.builder().dataSource(dataSource).persistenceUnit(emf).build();
        rowlock.schema().install(); // or run rowlock.schema().script(0) with your migrations

        CountDownLatch sent = new CountDownLatch(1);
        Worker worker = rowlock.worker(w -> w.queue("default", 32)
                .handle(
                        OrderConfirmation.class,
                        (mail, job) -> {
                            // your mail server; the key is the same in every attempt of this job
                            System.out.println("To " + mail.email() + ", key " + job.idempotencyKey());
                            sent.countDown();
                        },
                        h -> h.retry(RetryPolicy.exponential(ofSeconds(30)).maxAttempts(50))
                                .timeout(ofMinutes(2))));
        worker.start();

        emf.runInTransaction(em -> em.persist(new Order("ada@example.org")));

        sent.await();
        worker.stop(ofSeconds(30));
        emf.close();
    }
}
// end::program
