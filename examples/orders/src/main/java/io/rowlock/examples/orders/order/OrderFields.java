package io.rowlock.examples.orders.order;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The fields of one JSON object, each read with its check. What is wrong is added to the problems, with the field's
 * path and what was expected; the value returned then stands for nothing and is not used.
 */
final class OrderFields {
    private static final int QUANTITY_LIMIT = 1_000_000;
    private static final int CUT = 120;
    private static final Pattern MONEY = Pattern.compile("\\d{1,10}(\\.\\d{1,2})?");
    private static final Pattern FRACTION = Pattern.compile("0(\\.\\d{1,4})?|1(\\.0{1,4})?");
    private static final Pattern DATE = Pattern.compile("\\d{4}-\\d{2}-\\d{2}");
    private static final Pattern EMAIL = Pattern.compile("[\\w!#$%&'*+/=?^`{|}~-]+(\\.[\\w!#$%&'*+/=?^`{|}~-]+)*"
            + "@[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+");

    private final JsonNode object;
    private final String path;
    private final List<String> problems;

    OrderFields(JsonNode object, String path, List<String> problems) {
        this.object = object;
        this.path = path;
        this.problems = problems;
    }

    /** Any other field is a problem: it may be a name mistyped. */
    void only(List<String> known) {
        object.fieldNames().forEachRemaining(name -> {
            if (!known.contains(name)) {
                problems.add(path + cut(name) + ": unknown field; known are " + String.join(", ", known));
            }
        });
    }

    long number(String name) {
        return value(
                        name,
                        "a whole number from 1 to " + Long.MAX_VALUE,
                        node -> node.isIntegralNumber() && node.canConvertToLong() && node.longValue() > 0)
                .map(JsonNode::longValue)
                .orElse(0L);
    }

    int quantity(String name) {
        return value(
                        name,
                        "a whole number from 1 to " + QUANTITY_LIMIT,
                        node -> node.isIntegralNumber()
                                && node.canConvertToInt()
                                && node.intValue() > 0
                                && node.intValue() <= QUANTITY_LIMIT)
                .map(JsonNode::intValue)
                .orElse(0);
    }

    String text(String name) {
        return textLike(name, "a text of 1 to " + NewOrder.TEXT_LIMIT + " characters", OrderFields::isPlain)
                .orElse("");
    }

    String email(String name) {
        return textLike(
                        name,
                        "an address such as \"anna@example.org\"",
                        text -> text.indexOf('@') <= 64 && matches(EMAIL, text))
                .orElse("");
    }

    LocalDate date(String name) {
        return textLike(name, "a date such as \"1996-07-04\"", OrderFields::isDate)
                .map(LocalDate::parse)
                .orElse(LocalDate.EPOCH);
    }

    BigDecimal money(String name) {
        return textLike(name, "a decimal as text such as \"32.38\"", text -> matches(MONEY, text))
                .map(text -> new BigDecimal(text).setScale(2, RoundingMode.UNNECESSARY))
                .orElse(BigDecimal.ZERO);
    }

    BigDecimal fraction(String name) {
        return textLike(name, "a fraction from 0 to 1 as text such as \"0.05\"", text -> matches(FRACTION, text))
                .map(text -> new BigDecimal(text).setScale(4, RoundingMode.UNNECESSARY))
                .orElse(BigDecimal.ZERO);
    }

    /** The objects of an array, at least one. */
    List<OrderFields> list(String name) {
        List<OrderFields> elements = new ArrayList<>();
        value(name, "an array of at least one object", node -> node.isArray() && !node.isEmpty())
                .ifPresent(array -> {
                    for (int i = 0; i < array.size(); i++) {
                        String place = path + name + "[" + i + "]";
                        if (array.get(i).isObject()) {
                            elements.add(new OrderFields(array.get(i), place + ".", problems));
                        } else {
                            problems.add(place + ": expected an object {…}, got " + shown(array.get(i)));
                        }
                    }
                });
        return elements;
    }

    private Optional<String> textLike(String name, String expected, Predicate<String> test) {
        return value(name, expected, node -> node.isTextual() && test.test(node.textValue()))
                .map(JsonNode::textValue);
    }

    private Optional<JsonNode> value(String name, String expected, Predicate<JsonNode> test) {
        JsonNode node = object.get(name);
        if (node != null && test.test(node)) {
            return Optional.of(node);
        }
        problems.add(path + name + ": expected " + expected + ", got " + (node == null ? "nothing" : shown(node)));
        return Optional.empty();
    }

    private static boolean isPlain(String text) {
        return !text.isBlank()
                && text.length() <= NewOrder.TEXT_LIMIT
                && text.codePoints()
                        .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
    }

    private static boolean isDate(String text) {
        try {
            return matches(DATE, text) && LocalDate.parse(text) != null;
        } catch (DateTimeParseException e) {
            return false;
        }
    }

    private static boolean matches(Pattern pattern, String text) {
        return text.length() <= NewOrder.TEXT_LIMIT && pattern.matcher(text).matches();
    }

    /** A value as it may be shown in one line of a message. */
    static String shown(JsonNode node) {
        return cut(node.toString());
    }

    static String cut(String text) {
        String line = text.replaceAll("\\p{Cntrl}+", " ");
        return line.length() <= CUT ? line : line.substring(0, CUT - 1) + "…";
    }
}
