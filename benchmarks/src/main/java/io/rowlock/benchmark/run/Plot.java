package io.rowlock.benchmark.run;

import java.awt.Color;
import java.awt.geom.Rectangle2D;
import org.jfree.chart.ChartFactory;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.plot.PlotOrientation;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.chart.renderer.category.StatisticalBarRenderer;
import org.jfree.data.statistics.DefaultStatisticalCategoryDataset;
import org.jfree.svg.SVGGraphics2D;

/** Draws a figure: a bar for each contender's median, and how far its runs lie apart. */
final class Plot {
    private static final int WIDTH = 720;
    private static final int PER_BAR = 46;
    private static final int AROUND = 90;

    private Plot() {}

    static String svg(Result result) {
        DefaultStatisticalCategoryDataset data = new DefaultStatisticalCategoryDataset();
        result.samples().stream()
                .filter(each -> each.skipped().isEmpty())
                .forEach(each -> data.add(
                        each.median(),
                        (each.max() - each.min()) / 2,
                        "median",
                        each.contender().name()));
        JFreeChart chart = ChartFactory.createBarChart(
                null, null, result.figure().unit(), data, PlotOrientation.HORIZONTAL, false, false, false);
        chart.setBackgroundPaint(Color.WHITE);
        CategoryPlot plot = chart.getCategoryPlot();
        plot.setBackgroundPaint(Color.WHITE);
        plot.setRangeGridlinePaint(Color.LIGHT_GRAY);
        StatisticalBarRenderer bars = new StatisticalBarRenderer();
        bars.setSeriesPaint(0, new Color(0x3b, 0x6e, 0xa5));
        bars.setBarPainter(new StandardBarPainter());
        bars.setShadowVisible(false);
        bars.setMaximumBarWidth(0.2);
        plot.setRenderer(bars);
        BarRenderer.setDefaultShadowsVisible(false);
        int height = AROUND + PER_BAR * result.samples().size();
        SVGGraphics2D svg = new SVGGraphics2D(WIDTH, height);
        svg.setDefsKeyPrefix(result.figure().id());
        chart.draw(svg, new Rectangle2D.Double(0, 0, WIDTH, height));
        return svg.getSVGElement() + '\n';
    }
}
