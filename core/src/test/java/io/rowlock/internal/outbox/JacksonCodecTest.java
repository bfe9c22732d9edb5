package io.rowlock.internal.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import io.rowlock.job.Kind;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JacksonCodecTest {
    private static final char LONE = '\uD83D';
    private final JacksonCodec codec = new JacksonCodec();

    record Text(String value) {}

    record Numbers(
            long id,
            Long boxed,
            BigDecimal amount,
            BigInteger big,
            double real,
            float single,
            Map<String, Object> free) {}

    record Times(
            Instant instant,
            OffsetDateTime offset,
            LocalDateTime local,
            LocalDate date,
            Duration duration,
            Period period,
            ZonedDateTime zoned) {}

    record Maybe(Optional<String> name, OptionalLong number, Optional<Text> text) {}

    enum Colour {
        RED,
        GREEN
    }

    record Painted(Colour colour, UUID id, List<Text> texts) {}

    record Free(Object anything) {}

    static final class Node {
        public Node next;
        public String name = "n";
    }

    /** What the gadget did; a class of its own, as looking at the gadget would initialise it. */
    static final class Deeds {
        static final List<String> DONE = new CopyOnWriteArrayList<>();
    }

    /** A class that must not be touched because a row names it. */
    public static final class Gadget {
        static {
            Deeds.DONE.add("initialised");
        }

        public void setCommand(String command) {
            Deeds.DONE.add(command);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a\0b",
                "\0",
                "\\u0000",
                "\\\\u0000",
                "\uD83D",
                "x\uDE00y",
                "\uDE00\uD83D",
                "\uD83D\uD83D\uDE00\uDE00",
                "\uD83D\uDE00",
                "\\uD83D",
                "\u2028\u2029\uFEFF\uFFFF",
                "\"quoted\" \b\f\n\r\t/",
                ""
            })
    @Tag("B44")
    void any_text_comes_back_as_it_was_and_can_go_over_utf8(String text) throws Exception {
        String json = codec.encode(new Text(text));

        assertThat(new String(json.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                .isEqualTo(json);
        assertThat(json).doesNotContain("\0");
        assertThat(codec.decode(json, Text.class).value()).isEqualTo(text);
    }

    @Test
    @Tag("B44")
    void map_keys_with_nul_come_back_too() throws Exception {
        Map<String, Object> map = Map.of("a\0", 1, "b", Map.of("\0c", List.of("\0" + LONE)));

        assertThat((Object) codec.decode(codec.encode(map), Map.class)).isEqualTo(map);
    }

    @Test
    @Tag("B44")
    void a_map_key_with_half_a_surrogate_pair_is_refused_when_written_as_it_could_never_be_read() {
        assertThatThrownBy(() -> codec.encode(Map.of("a", Map.of("b" + LONE, 1))))
                .isInstanceOf(JsonProcessingException.class)
                .hasMessageContaining("field name");
    }

    @Test
    @Tag("B36")
    void numbers_keep_every_digit_and_their_scale() throws Exception {
        for (String amount : List.of("100", "100.00", "1E-20", "-0.10", "1234567890123456789012345678901234567890.5")) {
            Numbers numbers = new Numbers(
                    Long.MAX_VALUE,
                    (1L << 53) + 1,
                    new BigDecimal(amount),
                    BigInteger.TEN.pow(40).add(BigInteger.ONE),
                    Double.MIN_VALUE,
                    Float.MAX_VALUE,
                    Map.of());

            assertThat(codec.decode(codec.encode(numbers), Numbers.class)).isEqualTo(numbers);
        }
    }

    @Test
    @Tag("B36")
    void numbers_in_a_free_map_keep_every_digit_and_their_scale() throws Exception {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("int", 7);
        map.put("long", Long.MAX_VALUE);
        map.put("big", BigInteger.TEN.pow(40));
        map.put("scaled", new BigDecimal("100.00"));
        map.put("small", new BigDecimal("1E-20"));

        assertThat((Object) codec.decode(codec.encode(map), Map.class)).isEqualTo(map);
        assertThat(codec.decode("{\"anything\":100.00}", Free.class).anything()).isEqualTo(new BigDecimal("100.00"));
    }

    @Test
    @Tag("B36")
    void not_a_number_and_the_infinities_come_back() throws Exception {
        for (double real : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -0.0}) {
            Numbers numbers = new Numbers(1, null, BigDecimal.ONE, BigInteger.ONE, real, (float) real, null);

            assertThat(codec.decode(codec.encode(numbers), Numbers.class)).isEqualTo(numbers);
        }
    }

    @Test
    @Tag("B36")
    void times_keep_their_nanoseconds_offset_and_zone_and_are_iso_texts() throws Exception {
        Times times = new Times(
                Instant.parse("2026-03-29T00:59:59.123456789Z"),
                OffsetDateTime.parse("2026-03-29T01:59:59.000000001+05:45"),
                LocalDateTime.parse("2026-03-29T02:30:00.999999999"),
                LocalDate.of(-44, 3, 15),
                Duration.ofSeconds(-1, 1),
                Period.of(1, -2, 3),
                ZonedDateTime.of(LocalDateTime.parse("2026-10-25T02:30:00"), ZoneId.of("Europe/Berlin"))
                        .withLaterOffsetAtOverlap());

        String json = codec.encode(times);

        assertThat(codec.decode(json, Times.class)).isEqualTo(times);
        assertThat(json).contains("\"2026-03-29T00:59:59.123456789Z\"", "+05:45", "\"PT-0.999999999S\"");
    }

    @Test
    @Tag("B36")
    void optionals_enums_bytes_and_nested_records_come_back() throws Exception {
        Maybe some = new Maybe(Optional.of("x"), OptionalLong.of(Long.MIN_VALUE), Optional.of(new Text("y")));
        Maybe none = new Maybe(Optional.empty(), OptionalLong.empty(), Optional.empty());
        Painted painted = new Painted(Colour.GREEN, new UUID(1, 2), List.of(new Text("a")));

        assertThat(codec.decode(codec.encode(some), Maybe.class)).isEqualTo(some);
        assertThat(codec.decode(codec.encode(none), Maybe.class)).isEqualTo(none);
        assertThat(codec.decode(codec.encode(painted), Painted.class)).isEqualTo(painted);
        assertThat(codec.decode(codec.encode(new byte[] {0, -1}), byte[].class)).containsExactly(0, -1);
    }

    @Test
    void unknown_properties_are_ignored_so_that_an_old_node_reads_a_newer_payload() throws Exception {
        assertThat(codec.decode("{\"value\":\"x\",\"since\":{\"version\":[2]}}", Text.class))
                .isEqualTo(new Text("x"));
    }

    @Test
    @Tag("B30")
    @Tag("P13")
    void a_class_named_in_the_json_is_a_property_like_any_other() throws Exception {
        String gadget = "{\"@class\":\"" + Gadget.class.getName() + "\",\"command\":\"rm\"}";

        assertThat(codec.decode("{\"anything\":" + gadget + "}", Free.class).anything())
                .isEqualTo(Map.of("@class", Gadget.class.getName(), "command", "rm"));
        assertThat(codec.decode("[\"" + Gadget.class.getName() + "\",{\"command\":\"rm\"}]", Object.class))
                .isEqualTo(List.of(Gadget.class.getName(), Map.of("command", "rm")));
        assertThat(codec.decode("{\"@class\":\"" + Gadget.class.getName() + "\",\"value\":\"x\"}", Text.class))
                .isEqualTo(new Text("x"));
        assertThat(Deeds.DONE).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[]", "7", "\"x\"", "{\"value\":\"x\"} trailing", "{\"value\":{}}", "null"})
    @Tag("B39")
    void what_is_no_payload_of_the_type_is_an_error(String json) {
        assertThatThrownBy(() -> codec.decode(json, Text.class)).isInstanceOf(Exception.class);
    }

    @Test
    @Tag("B39")
    void unknown_enum_constants_and_texts_over_the_parsers_limit_are_errors() {
        assertThatThrownBy(() -> codec.decode("{\"colour\":\"BLUE\"}", Painted.class))
                .isInstanceOf(JsonMappingException.class)
                .hasMessageContaining("BLUE");
        assertThatThrownBy(() -> codec.decode("{\"value\":\"" + "x".repeat(20_000_001) + "\"}", Text.class))
                .isInstanceOf(Exception.class)
                .hasMessageContaining("exceeds the maximum");
    }

    @Test
    @Tag("P15")
    void a_cycle_is_an_error_and_no_endless_text() {
        Node node = new Node();
        node.next = node;

        assertThatThrownBy(() -> codec.encode(node)).isInstanceOf(JsonMappingException.class);
    }

    @Kind("hidden")
    static class Hidden {
        @SuppressWarnings("unused")
        private final int no = 7;
    }

    /** Nothing of its own, but what it inherits is lost as well. */
    @Kind("heir")
    static final class Heir extends Hidden {}

    @Kind("bare")
    static final class Bare {
        static final int COMMON = 1;
        transient int cached = 2;
    }

    @Kind("any")
    static final class Any {
        private final Map<String, Integer> all = Map.of("a", 1);

        @JsonAnyGetter
        public Map<String, Integer> all() {
            return all;
        }
    }

    @Kind("written")
    static final class Written {
        private final int no = 7;

        public int getNo() {
            return no;
        }
    }

    @Kind("empty")
    record Empty() {}

    @Test
    @Tag("P15")
    void a_bean_whose_fields_would_all_be_lost_is_refused_at_any_depth() throws Exception {
        List<Object> lost = List.of(
                new Hidden(),
                new Heir(),
                new Free(new Hidden()),
                Map.of("a", List.of(new Heir())),
                Optional.of(new Hidden()),
                new Object[] {new Hidden()});

        for (Object payload : lost) {
            assertThatThrownBy(() -> codec.encode(payload))
                    .isInstanceOf(JsonMappingException.class)
                    .hasMessageContaining("would be written as {}")
                    .hasMessageContaining("Make it a record");
        }
    }

    @Test
    void what_has_nothing_to_lose_or_says_what_to_write_is_written() throws Exception {
        assertThat(codec.encode(new Bare())).isEqualTo("{}");
        assertThat(codec.encode(new Empty())).isEqualTo("{}");
        assertThat(codec.encode(new Any())).isEqualTo("{\"a\":1}");
        assertThat(codec.encode(new Written())).isEqualTo("{\"no\":7}");
        assertThat(codec.encode(Map.of())).isEqualTo("{}");
    }

    @Test
    void escaping_leaves_a_text_without_lone_surrogates_alone() {
        String json = "{\"a\":\"\uD83D\uDE00\"}";

        assertThat(JacksonCodec.escapeLoneSurrogates(json)).isSameAs(json);
        assertThat(JacksonCodec.escapeLoneSurrogates("\"" + LONE + "\"")).isEqualTo("\"\\ud83d\"");
        assertThat(JacksonCodec.escapeLoneSurrogates("\"a\uDE00\uD83D\uDE00b" + LONE + "\""))
                .isEqualTo("\"a\\ude00\uD83D\uDE00b\\ud83d\"");
    }

    @Test
    void a_megabyte_of_emoji_comes_back() throws Exception {
        String emoji = "\uD83D\uDE00".repeat(262_144);

        assertThat(codec.decode(codec.encode(new Text(emoji)), Text.class).value())
                .isEqualTo(emoji);
    }
}
