package io.rowlock.examples.orders.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole demo, with every check it makes itself, on files that hold each thing that can happen. */
class DemoIT {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    Path folder;

    @Test
    void each_committed_order_has_one_confirmation_and_no_rolled_back_one_has_any() throws IOException {
        int exitCode = run(
                new OrderText(100),
                new OrderText(103), // the bank is busy twice
                new OrderText(104), // the carrier is busy
                new OrderText(105), // the warehouse's answer is lost
                new OrderText(107), // the bank's answer is lost
                new OrderText(129), // the bank's answer comes too late
                new OrderText(166), // the bank's answer never comes
                new OrderText(111).with("items", "[" + OrderText.item("Piano", "17000.00", 1) + "]"),
                new OrderText(112).with("items", "[" + OrderText.item("Matches", "0.05", 10_000) + "]"),
                new OrderText(108).with("country", "\"Atlantis\""), // and the answer to the second try is lost
                new OrderText(121).with("country", "\"Atlantis\""),
                new OrderText(131).with("country", "\"Atlantis\""),
                new OrderText(100), // the number is taken
                new OrderText(109).with("items", "[" + OrderText.item("Yacht", "19999.00", 2) + "]"),
                new OrderText(110).with("items", "[" + OrderText.item("Cork floats, hand-cut", "1.00", 1) + "]"));

        assertThat(out())
                .contains("12 committed, 3 rolled back")
                .contains("1 × the order number was taken")
                .contains("1 × above the credit limit")
                .contains("1 × a product is no longer sold")
                .contains("order-confirmation: 12 completed")
                .contains("order-placed: 12 completed")
                .contains("saga stuck, order-fulfilment, 3 ×")
                .contains("10 charges, 2 of them refunded")
                .contains("11 orders had goods taken for them, 3 had them put back")
                .contains("7 deliveries")
                .contains("8 completed, 3 compensated, 1 resolved; 3 of them were stuck, until a person helped")
                .contains("order 108 was tried again")
                .contains("order 121 was delivered by hand")
                .contains("order 131 was given up")
                .contains("flowchart TD", "classDef completed")
                .contains("Anna  the carrier has agreed to go there")
                .contains("All 18 checks passed.")
                .doesNotContain("✗");
        assertThat(err()).isEmpty();
        assertThat(exitCode).isZero();
    }

    @Test
    void good_lines_run_and_bad_lines_are_named_and_make_it_fail() throws IOException {
        int exitCode = run(new OrderText(1), new OrderText(2).without("email"), "oops", new OrderText(4));

        assertThat(out()).contains("2 committed, 0 rolled back").contains("All 18 checks passed.");
        assertThat(err())
                .contains("orders.jsonl:2: email: expected an address")
                .contains("orders.jsonl:3: not valid JSON")
                .contains("2 bad lines");
        assertThat(exitCode).isEqualTo(1);
    }

    @Test
    void a_file_without_orders_or_none_at_all_starts_nothing() throws IOException {
        assertThat(run()).isEqualTo(1);
        assertThat(err()).contains("There is no order in");

        String missing = folder.resolve("missing.jsonl").toString();
        assertThat(demo().run(missing)).isEqualTo(2);
        assertThat(err()).contains("Cannot read " + missing + ": there is no such file");
        assertThat(out()).isEmpty();
    }

    private int run(Object... lines) throws IOException {
        Path file = folder.resolve("orders.jsonl");
        Files.write(file, List.of(lines).stream().map(Object::toString).toList());
        return demo().run(file.toString());
    }

    private Demo demo() {
        return new Demo(
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                new StopSignal());
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
