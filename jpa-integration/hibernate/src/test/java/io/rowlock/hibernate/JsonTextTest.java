package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("B35")
final class JsonTextTest {
    private static void same(String one, String other) {
        assertThat(JsonText.read(one)).isEqualTo(JsonText.read(other)).isNotInstanceOf(String.class);
    }

    private static void different(String one, String other) {
        assertThat(JsonText.read(one)).isNotEqualTo(JsonText.read(other));
    }

    @Test
    void order_of_attributes_blanks_and_form_of_numbers_do_not_count() {
        same("{\"a\":1,\"b\":[1.50,{\"c\":null}]}", " { \"b\" : [ 15e-1 , {\"c\":null} ] , \"a\" : 1.0 } ");
        same("{\"a\":{},\"b\":[],\"c\":true}", "{\"c\":true,\"b\":[ ],\"a\":{ }}");
        same("[\"\\u00e4\\n\\/\\\"$1\"]", "[\"ä\\u000a/\\u0022$1\"]");
    }

    @Test
    void last_digit_order_of_an_array_and_kind_of_a_value_count() {
        different("{\"a\":1234567890123456.78}", "{\"a\":1234567890123456.79}");
        different("[1,2]", "[2,1]");
        different("{\"a\":1.1000000000000000001,\"b\":1}", "{\"a\":1,\"b\":1.1000000000000000001}");
        different("{\"a\":null}", "{}");
        different("{\"a\":\"1\"}", "{\"a\":1}");
        different("{\"a\":\"null\"}", "{\"a\":null}");
    }

    @Test
    void text_that_is_no_json_says_itself() {
        for (String text :
                List.of("", "{", "[1", "[1 2]", "{\"a\" 1}", "[1]]", "{a:1}", "\"", "[1e99999999999]", "[,]")) {
            assertThat(JsonText.read(text)).isEqualTo(text);
        }
        assertThat(JsonText.read("[".repeat(100_000))).isEqualTo("[".repeat(100_000));
    }
}
