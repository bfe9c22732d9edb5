package io.rowlock.examples.orders.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.rowlock.examples.orders.demo.OrderFile.BadLine;
import io.rowlock.examples.orders.demo.OrderFile.Entry;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class OrderFileTest {
    @Test
    void lines_are_numbered_as_an_editor_does_and_blank_ones_skipped() throws IOException {
        OrderFile file = read("\uFEFF" + new OrderText(1) + "\r\n\r\n" + new OrderText(2) + "\n   \nnonsense\n"
                + new OrderText(3)); // and no newline at the end

        assertThat(file.entries()).extracting(Entry::line).containsExactly(1, 3, 6);
        assertThat(file.entries()).extracting(Entry::number).containsExactly(1L, 2L, 3L);
        assertThat(file.badLines()).extracting(BadLine::line).containsExactly(5);
    }

    @Test
    void an_empty_file_has_no_lines() throws IOException {
        OrderFile file = read("");

        assertThat(file.entries()).isEmpty();
        assertThat(file.badLines()).isEmpty();
    }

    @Test
    void all_that_is_wrong_with_a_line_is_said_at_once() throws IOException {
        OrderFile file =
                read(new OrderText(0).without("email").with("freight", "4.9").toString());

        assertThat(file.entries()).isEmpty();
        assertThat(file.badLines().get(0).problem())
                .contains("order: expected a whole number from 1")
                .contains("email: expected an address such as \"anna@example.org\", got nothing")
                .contains("freight: expected a decimal as text such as \"32.38\", got 4.9");
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void a_bad_line_says_what_is_wrong_and_what_was_expected(String line, String problem) throws IOException {
        OrderFile file = read(new OrderText(1) + "\n" + line + "\n" + new OrderText(2));

        assertThat(file.entries()).hasSize(2);
        assertThat(file.badLines()).hasSize(1);
        assertThat(file.badLines().get(0).line()).isEqualTo(2);
        assertThat(file.badLines().get(0).problem())
                .contains(problem)
                .doesNotContain("\n", "Source", "REDACTED", "FEATURE", "jackson");
    }

    static Stream<Arguments> mistakes() {
        String duplicate = new OrderText(1).toString().replace("{\"order\": 1,", "{\"order\": 1, \"order\": 2,");
        return Stream.of(
                Arguments.of("{\"order\": 1,", "not valid JSON at column"),
                Arguments.of(new OrderText(1) + " {}", "not valid JSON at column"),
                Arguments.of(duplicate, "Duplicate field 'order'"),
                Arguments.of("[]", "expected a JSON object"),
                Arguments.of("null", "expected a JSON object"),
                wrong("order", "1.5", "order: expected a whole number"),
                wrong("order", "\"1\"", "order: expected a whole number"),
                wrong("order", "9223372036854775808", "order: expected a whole number"),
                wrong("customer", "\" \"", "customer: expected a text"),
                wrong("customer", "\"a\\nBcc: b@example.org\"", "customer: expected a text"),
                wrong("customer", "\"\\ud83d\"", "customer: expected a text"),
                wrong("customer", "\"" + "x".repeat(201) + "\"", "customer: expected a text of 1 to 200 characters"),
                wrong("email", "\"ruder\"", "email: expected an address"),
                wrong("email", "\"a..b@example.org\"", "email: expected an address"),
                wrong("email", "\"a@b@example.org\"", "email: expected an address"),
                wrong("placedOn", "\"2026-02-30\"", "placedOn: expected a date"),
                wrong("requiredOn", "\"29.11.2026\"", "requiredOn: expected a date"),
                wrong("freight", "\"-1.00\"", "freight: expected a decimal as text"),
                wrong("freight", "\"1,00\"", "freight: expected a decimal as text"),
                wrong("freight", "\"1.005\"", "freight: expected a decimal as text"),
                wrong("freight", "\"1e3\"", "freight: expected a decimal as text"),
                wrong("items", "[]", "items: expected an array of at least one object"),
                wrong("items", "[7]", "items[0]: expected an object"),
                wrong(
                        "items",
                        "[" + OrderText.item("x", "1.00", -3) + "]",
                        "items[0].quantity: expected a whole number"),
                wrong("items", "[" + OrderText.item("x", "1.0.0", 1) + "]", "items[0].unitPrice: expected a decimal"),
                wrong("items", "[{\"product\": \"x\"}]", "items[0].discount: expected a fraction"),
                wrong("note", "\"hello\"", "note: unknown field; known are order, customer"));
    }

    @Test
    void bytes_that_are_no_utf_8_are_named() throws IOException {
        byte[] latin1 = new OrderText(1).toString().getBytes(StandardCharsets.ISO_8859_1);

        OrderFile file = OrderFile.read(new ByteArrayInputStream(latin1));

        assertThat(file.badLines()).hasSize(1);
        assertThat(file.badLines().get(0).problem()).contains("not valid JSON").contains("UTF-8");
    }

    @Test
    void a_line_in_utf_16_is_not_guessed_at() throws IOException {
        byte[] utf16 = new OrderText(1).toString().getBytes(StandardCharsets.UTF_16BE);

        OrderFile file = OrderFile.read(new ByteArrayInputStream(utf16));

        assertThat(file.entries()).isEmpty();
        assertThat(file.badLines()).hasSize(1);
    }

    @Test
    void a_line_too_long_for_the_shop_is_skipped_without_holding_it() throws IOException {
        InputStream huge = Stream.of(
                        new ByteArrayInputStream("x".repeat(3 << 20).getBytes(StandardCharsets.UTF_8)),
                        new ByteArrayInputStream(("\n" + new OrderText(7)).getBytes(StandardCharsets.UTF_8)))
                .map(InputStream.class::cast)
                .reduce(java.io.SequenceInputStream::new)
                .orElseThrow();

        OrderFile file = OrderFile.read(huge);

        assertThat(file.badLines()).containsExactly(new BadLine(1, "longer than 1048576 bytes"));
        assertThat(file.entries()).extracting(Entry::number).containsExactly(7L);
    }

    @Test
    void the_bundled_sample_is_well_written() throws IOException {
        try (InputStream sample = Demo.class.getResourceAsStream("/sample-orders.jsonl")) {
            OrderFile file = OrderFile.read(sample);

            assertThat(file.badLines()).isEmpty();
            assertThat(file.entries()).hasSize(300);
        }
    }

    private static Arguments wrong(String field, String json, String problem) {
        return Arguments.of(new OrderText(1).with(field, json).toString(), problem);
    }

    private static OrderFile read(String text) throws IOException {
        return OrderFile.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }
}
