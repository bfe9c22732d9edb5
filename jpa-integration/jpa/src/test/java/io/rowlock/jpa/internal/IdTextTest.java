package io.rowlock.jpa.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class IdTextTest {
    @Test
    void simple_ids_are_their_text_and_bytes_are_hexadecimal() {
        assertThat(IdText.of(42L)).isEqualTo("42");
        assertThat(IdText.of(new UUID(1, 2))).isEqualTo("00000000-0000-0001-0000-000000000002");
        assertThat(IdText.of(new byte[] {1, (byte) 0xff})).isEqualTo("01ff");
    }

    @Test
    void composite_ids_are_json_in_the_order_of_names() {
        Map<String, Object> id = new HashMap<>(Map.of("b", 1, "a", "x\"\\\n\ud800", "c", true));
        id.put("d", null);
        id.put("e", Map.of("z", 2, "y", new byte[] {0}));
        assertThat(IdText.of(id))
                .isEqualTo(
                        "{\"a\":\"x\\\"\\\\\\u000a\\ud800\",\"b\":1,\"c\":true,\"d\":null,\"e\":{\"y\":\"00\",\"z\":2}}");
    }

    @Test
    void subject_is_name_and_id_or_a_hash_where_the_column_would_refuse_it() {
        assertThat(new RowName("Order", "42").text()).isEqualTo("Order:42");
        assertThat(new RowName("Order", "x".repeat(194)).text()).hasSize(200);
        assertThat(new RowName("Order", "x".repeat(195)).text()).matches("Order:#[0-9a-f]{32}");
        assertThat(new RowName("Order", "a\nb").text())
                .matches("Order:#[0-9a-f]{32}")
                .isEqualTo(new RowName("Order", "a\nb").text())
                .isNotEqualTo(new RowName("Order", "a\nc").text());
        assertThat(new RowName("O".repeat(300), "1").text().length()).isLessThanOrEqualTo(200);
    }
}
