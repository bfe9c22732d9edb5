package io.rowlock.examples.orders.demo;

import io.rowlock.examples.orders.http.ShopHttp;
import io.rowlock.examples.orders.order.BadOrder;
import io.rowlock.examples.orders.order.OrderJson;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A file of orders, one JSON object a line, in UTF-8, with or without a byte order mark, lines ended by LF or CR LF.
 * Blank lines are skipped.
 *
 * @param entries the well-written orders, in the order of the file
 * @param badLines the other lines
 */
record OrderFile(List<Entry> entries, List<BadLine> badLines) {
    private static final byte[] BYTE_ORDER_MARK = "\uFEFF".getBytes(StandardCharsets.UTF_8);

    OrderFile {
        entries = List.copyOf(entries);
        badLines = List.copyOf(badLines);
    }

    /**
     * One order as it stands in the file.
     *
     * @param line counted from 1
     * @param number the order's number
     * @param json the line itself
     */
    record Entry(int line, long number, String json) {}

    /**
     * A line that is no order.
     *
     * @param line counted from 1
     * @param problem what is wrong with it
     */
    record BadLine(int line, String problem) {}

    /** Reads all lines; the caller closes the stream. */
    static OrderFile read(InputStream input) throws IOException {
        List<Entry> entries = new ArrayList<>();
        List<BadLine> badLines = new ArrayList<>();
        LineReader lines = new LineReader(input, ShopHttp.BODY_LIMIT);
        while (lines.next()) {
            byte[] json = lines.number() == 1 ? withoutMark(lines.content()) : lines.content();
            if (lines.tooLong()) {
                badLines.add(new BadLine(lines.number(), "longer than " + ShopHttp.BODY_LIMIT + " bytes"));
            } else if (!isBlank(json)) {
                try {
                    long number = OrderJson.read(json).order();
                    entries.add(new Entry(lines.number(), number, new String(json, StandardCharsets.UTF_8)));
                } catch (BadOrder bad) {
                    badLines.add(new BadLine(lines.number(), String.join("; ", bad.problems())));
                }
            }
        }
        return new OrderFile(entries, badLines);
    }

    private static byte[] withoutMark(byte[] line) {
        boolean marked = line.length >= BYTE_ORDER_MARK.length
                && Arrays.equals(line, 0, BYTE_ORDER_MARK.length, BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length);
        return marked ? Arrays.copyOfRange(line, BYTE_ORDER_MARK.length, line.length) : line;
    }

    private static boolean isBlank(byte[] line) {
        for (byte each : line) {
            if (each != ' ' && each != '\t' && each != '\r') {
                return false;
            }
        }
        return true;
    }
}
