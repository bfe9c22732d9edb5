package io.rowlock.benchmark.run;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.geom.Rectangle2D;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.jfree.chart.ChartFactory;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberTickUnitSource;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;
import org.jfree.svg.SVGGraphics2D;

/** Draws recorded times: for each time, how many took no longer. */
final class TimesPlot {
    private static final int WIDTH = 720;
    private static final int HEIGHT = 380;
    private static final double MICROS = 1_000.0;
    private static final Color[] COLOURS = {
        new Color(0x3b, 0x6e, 0xa5),
        new Color(0xc8, 0x6b, 0x2a),
        new Color(0x5a, 0x8f, 0x4c),
        new Color(0x8a, 0x4f, 0x9e)
    };

    private TimesPlot() {}

    static String svg(Result result) {
        XYSeriesCollection data = new XYSeriesCollection();
        for (Samples each : result.samples()) {
            each.histogram()
                    .ifPresent(times -> data.addSeries(line(each.contender().name(), times)));
        }
        JFreeChart chart = ChartFactory.createXYLineChart(null, null, "% took no longer", data);
        chart.setBackgroundPaint(Color.WHITE);
        XYPlot plot = chart.getXYPlot();
        plot.setBackgroundPaint(Color.WHITE);
        plot.setDomainGridlinePaint(Color.LIGHT_GRAY);
        plot.setRangeGridlinePaint(Color.LIGHT_GRAY);
        LogAxis millis = new LogAxis("ms");
        millis.setStandardTickUnits(new NumberTickUnitSource());
        millis.setSmallestValue(0.1);
        plot.setDomainAxis(millis);
        plot.getRangeAxis().setRange(0, 100);
        XYLineAndShapeRenderer lines = new XYLineAndShapeRenderer(true, false);
        for (int i = 0; i < data.getSeriesCount(); i++) {
            lines.setSeriesPaint(i, COLOURS[i % COLOURS.length]);
            lines.setSeriesStroke(i, new BasicStroke(2));
        }
        plot.setRenderer(lines);
        SVGGraphics2D svg = new SVGGraphics2D(WIDTH, HEIGHT);
        svg.setDefsKeyPrefix(result.figure().id() + "-times");
        chart.draw(svg, new Rectangle2D.Double(0, 0, WIDTH, HEIGHT));
        return svg.getSVGElement() + '\n';
    }

    private static XYSeries line(String name, Histogram times) {
        XYSeries line = new XYSeries(name);
        for (HistogramIterationValue each : times.recordedValues()) {
            line.add(Math.max(each.getValueIteratedTo(), 100) / MICROS, each.getPercentile());
        }
        return line;
    }
}
