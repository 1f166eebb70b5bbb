// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edge_window.h"
#include "ui/values/channel_plot.h"

#include <QTabWidget>

using namespace qs;

/// The Channels page outlines what a weight's channels were before cures that change it.
class TestUncuredWeights : public test::EdgeWindow
{
    Q_OBJECT

    inline static const std::string kLayer = "block1.conv1.conv";
    ChannelPlot& page() { return *find<ChannelPlot>("channelPlot"); }
    NodeId layer()
    {
        for (const NodePtr& node : graph().nodes())
            if (node->isOperator() && node->scope.path == kLayer)
                return node->id;
        qFatal("no such layer");
    }
    const ObserverStats& weightStats()
    {
        return *workspace().facts().stats(workspace().facts().weightObserver(layer()));
    }

private Q_SLOTS:
    void initTestCase()
    {
        openAndCompare();
        auto* tabs = find<QTabWidget>("bottomTabs");
        tabs->setCurrentWidget(&page());
        QTRY_VERIFY(page().isVisible());
    }
    void cleanupTestCase() { m_window.reset(); }

    void theOutlineIsTheWeightBefore()
    {
        workspace().selectNode(layer());
        QTRY_VERIFY(page().channelCount() > 4);
        QCOMPARE(page().outlinedCount(), 0);
        const ObserverStats before = weightStats();
        Cure cure;
        cure.kind = CureKind::Equalize;
        cure.at.kind = ValueAddress::Kind::Operator;
        cure.at.module = kLayer;
        cure.at.op = "aten.conv2d.default";
        Recipe recipe = document().recipe();
        recipe.cures.push_back(cure);
        workspace().change("equalize", recipe);
        settle();
        workspace().pipeline().runUpTo(Stage::Calibrate);
        settle();
        workspace().selectNode(layer());
        QTRY_COMPARE(page().outlinedCount(), page().channelCount());
        const ObserverStats after = weightStats();
        QVERIFY(after.channelMax != before.channelMax);
        const auto all = static_cast<EngineService&>(m_engine).uncuredWeights(
            document().edited()->file, document().recipe(), {});
        QVERIFY(all && all->contains(graph().get(layer()).name));
        const WeightRanges shown = all->at(graph().get(layer()).name);
        QCOMPARE(shown.low, std::vector<float>(before.channelMin.begin(), before.channelMin.end()));
        QCOMPARE(shown.high,
                 std::vector<float>(before.channelMax.begin(), before.channelMax.end()));
        QVERIFY2(page().caption().contains("outlined: before the cures"),
                 qPrintable(page().caption()));
    }

    void undoneThereIsNone()
    {
        workspace().undoStack().undo();
        settle();
        workspace().pipeline().runUpTo(Stage::Calibrate);
        settle();
        workspace().selectNode(layer());
        QTRY_VERIFY(page().channelCount() > 4);
        QCOMPARE(page().outlinedCount(), 0);
        QVERIFY(!page().caption().contains("outlined"));
    }
};

QTEST_MAIN(TestUncuredWeights)
#include "tst_ui_uncured_weights.moc"
