package io.rowlock.examples.orders.demo;

import java.util.LinkedHashMap;
import java.util.Map;

/** An order as a line of a file, right in every field until a test changes one. */
final class OrderText {
    private final Map<String, String> fields = new LinkedHashMap<>();

    OrderText(long number) {
        fields.put("order", Long.toString(number));
        fields.put("customer", "\"Café \\\"Zum Ruder\\\" 🚣\"");
        fields.put("email", "\"ruder@example.org\"");
        fields.put("placedOn", "\"2026-11-29\"");
        fields.put("requiredOn", "\"2026-12-06\"");
        fields.put("country", "\"Österreich\"");
        fields.put("freight", "\"4.90\"");
        fields.put("items", "[" + item("Wool socks", "12.50", 2) + "]");
    }

    static String item(String product, String unitPrice, int quantity) {
        return "{\"product\": \"%s\", \"unitPrice\": \"%s\", \"quantity\": %d, \"discount\": \"0.10\"}"
                .formatted(product, unitPrice, quantity);
    }

    OrderText with(String field, String json) {
        fields.put(field, json);
        return this;
    }

    OrderText without(String field) {
        fields.remove(field);
        return this;
    }

    @Override
    public String toString() {
        StringBuilder line = new StringBuilder("{");
        fields.forEach((name, json) -> line.append(line.length() == 1 ? "" : ", ")
                .append('"')
                .append(name)
                .append("\": ")
                .append(json));
        return line.append('}').toString();
    }
}
