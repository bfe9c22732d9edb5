package io.rowlock.examples.orders.order;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Reads one order from JSON, the same for HTTP and for files. Every field must be there, none may be there twice, and
 * decimals are texts, so that no amount ever passes through a floating-point number.
 */
public final class OrderJson {
    private static final List<String> ORDER_FIELDS =
            List.of("order", "customer", "email", "placedOn", "requiredOn", "country", "freight", "items");
    private static final List<String> ITEM_FIELDS = List.of("product", "unitPrice", "quantity", "discount");

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** Where Jackson tells of its settings instead of the place. */
    private static final Pattern OWN_LOCATION =
            Pattern.compile("\\s*\\((start marker )?at \\[Source:[^\\]]*\\]\\)|\\s*\\[Source:[^\\]]*\\]");

    private OrderJson() {}

    /**
     * Reads an order.
     *
     * @param json UTF-8
     * @throws BadOrder naming everything that is wrong
     */
    public static NewOrder read(byte[] json) {
        List<String> problems = new ArrayList<>();
        NewOrder order = order(new OrderFields(tree(json), "", problems));
        if (!problems.isEmpty()) {
            throw new BadOrder(problems);
        }
        return order;
    }

    private static NewOrder order(OrderFields fields) {
        fields.only(ORDER_FIELDS);
        return new NewOrder(
                fields.number("order"),
                fields.text("customer"),
                fields.email("email"),
                fields.date("placedOn"),
                fields.date("requiredOn"),
                fields.text("country"),
                fields.money("freight"),
                fields.list("items").stream().map(OrderJson::item).toList());
    }

    private static NewOrder.Item item(OrderFields fields) {
        fields.only(ITEM_FIELDS);
        return new NewOrder.Item(
                fields.text("product"),
                fields.money("unitPrice"),
                fields.quantity("quantity"),
                fields.fraction("discount"));
    }

    private static JsonNode tree(byte[] json) {
        try {
            JsonNode tree = MAPPER.readTree(text(json));
            if (tree.isObject()) {
                return tree;
            }
            throw new BadOrder(List.of("expected a JSON object {…}, got " + OrderFields.shown(tree)));
        } catch (MismatchedInputException e) {
            throw new BadOrder(List.of("not valid JSON" + where(e) + ": something stands behind the object"));
        } catch (JacksonException e) {
            String problem = OWN_LOCATION.matcher(e.getOriginalMessage()).replaceAll("");
            throw new BadOrder(List.of("not valid JSON" + where(e) + ": " + OrderFields.cut(problem)));
        }
    }

    private static String where(JacksonException e) {
        return e.getLocation() == null ? "" : " at column " + e.getLocation().getColumnNr();
    }

    /** Strictly UTF-8: Jackson itself would guess at UTF-16 too, and the line is stored and shown as it stands. */
    private static String text(byte[] json) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(json))
                    .toString();
            return text.startsWith("\uFEFF") ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            throw new BadOrder(List.of("not valid JSON: the bytes are not UTF-8"));
        }
    }
}
