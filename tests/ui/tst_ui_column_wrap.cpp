// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/level_layout.h"

#include <QRectF>
#include <QtTest>

using namespace qs;

namespace {

/// A chain; every `skip`-th item also reads the one `reach` before it.
LevelGraph chainOf(int items, int skip = 0, int reach = 0)
{
    LevelGraph level;
    for (int i = 0; i < items; ++i) {
        level.items.push_back({QSizeF(120 + i % 3 * 20, 40)});
        if (i > 0)
            level.edges.push_back({i - 1, i});
        if (skip > 0 && i % skip == 0 && i >= reach)
            level.edges.push_back({i - reach, i});
    }
    return level;
}

std::vector<QRectF> rectsOf(const LevelGraph& level, const LevelPlacement& placement)
{
    std::vector<QRectF> out;
    for (std::size_t i = 0; i < level.items.size(); ++i) {
        QRectF rect(QPointF(0, 0), level.items[i].size);
        rect.moveCenter(placement.centers[i]);
        out.push_back(rect);
    }
    return out;
}

QRectF around(const std::vector<QRectF>& rects)
{
    QRectF out;
    for (const QRectF& rect : rects)
        out |= rect;
    return out;
}

/// Stretches of the edge's line that go through an item.
int crossings(const std::vector<QPointF>& line, const std::vector<QRectF>& rects)
{
    int out = 0;
    for (std::size_t i = 1; i < line.size(); ++i) {
        const QRectF stretch = QRectF(line[i - 1], line[i]).normalized().adjusted(-1, -1, 1, 1);
        for (const QRectF& rect : rects)
            out += rect.adjusted(2, 2, -2, -2).intersects(stretch);
    }
    return out;
}

} // namespace

/// A level of very many rows is broken into columns, as text is into lines.
class TestColumnWrap : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void longLevelsHaveTheShapeOfAView()
    {
        for (const int items : {600, 5000, 20000}) {
            const LevelGraph level = chainOf(items);
            const QRectF bounds = around(rectsOf(level, layoutLevel(level)));
            const double shape = bounds.width() / bounds.height();
            QVERIFY2(shape > 1.1 && shape < 2.4, qPrintable(QString::number(shape)));
        }
        LevelGraph sideways = chainOf(20000);
        sideways.viewShape = 1 / sideways.viewShape;
        const QRectF bounds = around(rectsOf(sideways, layoutLevel(sideways)));
        QVERIFY(bounds.height() > bounds.width());
    }

    /// Down each column, and from the left one to the right one.
    void columnsAreReadAsText()
    {
        const LevelGraph level = chainOf(2000);
        const auto rects = rectsOf(level, layoutLevel(level));
        int columns = 1;
        for (std::size_t i = 1; i < rects.size(); ++i) {
            if (rects[i].top() > rects[i - 1].bottom())
                continue;
            ++columns;
            QVERIFY(rects[i].left() > rects[i - 1].right());
            QCOMPARE(rects[i].top(), 0.0); // all columns begin at the top
        }
        QVERIFY2(columns > 10, qPrintable(QString::number(columns)));
    }

    /// Lines go through the gaps, also those that pass whole columns.
    void linesCrossNoItem()
    {
        const LevelGraph level = chainOf(900, 90, 85);
        const LevelPlacement placement = layoutLevel(level, LayoutQuality::Coarse);
        const auto rects = rectsOf(level, placement);
        int between = 0;
        for (std::size_t e = 0; e < level.edges.size(); ++e) {
            const auto& bends = placement.bends[e];
            const auto from = std::size_t(level.edges[e].from), to = std::size_t(level.edges[e].to);
            if (bends.size() < 4)
                continue; // within a column
            ++between;
            std::vector<QPointF> line {{rects[from].center().x(), rects[from].bottom()}};
            line.insert(line.end(), bends.begin(), bends.end());
            line.emplace_back(rects[to].center().x(), rects[to].top());
            QCOMPARE(crossings(line, rects), 0);
        }
        QVERIFY(between > 10);
    }

    void othersStayOneColumn()
    {
        const LevelGraph level = chainOf(400);
        for (const QPointF& center : layoutLevel(level).centers)
            QCOMPARE(center.x(), 0.0);
    }
};

QTEST_GUILESS_MAIN(TestColumnWrap)
#include "tst_ui_column_wrap.moc"
