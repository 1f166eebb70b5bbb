// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/convert/quantize_weights.h"
#include "tests/ui/range_window.h"
#include "ui/style/theme.h"

#include <QPushButton>
#include <QToolButton>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>

using namespace qs;

/// What a value would lose otherwise: alternatives and tried ranges, beside the command line.
class TestWhatIf : public test::RangeWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { openAndCompare(); }
    void init() { startAgain(); }
    void cleanupTestCase() { m_window.reset(); }

    void alternativesAreTheCommandLines()
    {
        const Edge edge = forked();
        workspace().selectNode(edge.value.node);
        QTRY_VERIFY(alternative("histogram, mse"));
        const ObserverId output = workspace().facts().outputObserver(edge.value.node);
        int compared = 0;
        const auto compare = [&](ObserverId observer, const QJsonObject& wanted) {
            QTRY_VERIFY(workspace().alternatives().ask(observer));
            const auto& shown = *workspace().alternatives().ask(observer);
            const QJsonArray list = wanted["alternatives"].toArray();
            QCOMPARE(qsizetype(shown.size()), list.size());
            for (std::size_t i = 0; i < shown.size(); ++i) {
                const QJsonObject one = list[qsizetype(i)].toObject();
                QCOMPARE(QString::fromStdString(shown[i].name), one["name"].toString());
                QCOMPARE(shown[i].sqnrDb.has_value(), one["sqnr_db"].isDouble());
                if (shown[i].sqnrDb)
                    QVERIFY(sameNumber(*shown[i].sqnrDb, one["sqnr_db"].toDouble()));
                QCOMPARE(shown[i].exactParameters, one["exact_parameters"].toBool());
                ++compared;
            }
        };
        compare(output, told(graph().get(edge.value.node).name)["output"].toObject());
        for (const auto& node : graph().nodes())
            if (const ObserverId weight = workspace().facts().weightObserver(node->id);
                weight && workspace().facts().group(node->id)->root == node->id)
                compare(weight, told(node->name)["weight"].toObject());
        QVERIFY(compared > 30);
    }

    /// One click, and the value is quantized by the parameters that the row showed.
    void oneClickTakesAnAlternative()
    {
        const Edge edge = forked();
        workspace().selectNode(edge.value.node);
        QTRY_VERIFY(alternative("minmax"));
        const ObserverId before = workspace().facts().outputObserver(edge.value.node);
        QParams wanted;
        for (const Alternative& one : *workspace().alternatives().ask(before))
            if (one.name == "minmax") {
                QVERIFY(one.exactParameters);
                wanted = one.qparams;
            }
        auto* tree = find<QTreeWidget>("alternativesTree");
        auto* use = qobject_cast<QToolButton*>(tree->itemWidget(alternative("minmax"), 3));
        QVERIFY(use);
        use->click();
        settle();
        QCOMPARE(edgeRules(), 2);
        workspace().pipeline().runUpTo(Stage::Calibrate);
        settle();
        const QParams* now
            = workspace().facts().qparams(workspace().facts().outputObserver(edge.value.node));
        QVERIFY(now);
        QCOMPARE(now->scale, wanted.scale);
        QCOMPARE(now->zeroPoint, wanted.zeroPoint);
        workspace().undoStack().undo();
        settle();
        QVERIFY(document().recipe() == m_start);
        // A weight, by keyboard: a rule of its operator.
        for (const auto& node : graph().nodes())
            if (workspace().facts().weightObserver(node->id)) {
                workspace().selectNode(node->id);
                break;
            }
        QTRY_VERIFY(alternative("per tensor"));
        tree->setFocus();
        tree->setCurrentItem(alternative("per tensor"));
        QTest::keyClick(tree, Qt::Key_Return);
        settle();
        const ObserverId weight
            = workspace().facts().weightObserver(workspace().selection().current());
        QVERIFY(!isPerChannel(workspace().facts().observer(weight)->spec.qscheme));
        QCOMPARE(edgeRules(), 0);
        workspace().undoStack().undo();
        QVERIFY(document().recipe() == m_start);
    }

    void aDraggedRangeTellsItsErrorAndIsKept()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const Edge edge = forked();
        workspace().selectNode(edge.value.node);
        const ObserverId observer = workspace().facts().outputObserver(edge.value.node);
        QTRY_VERIFY(histogram().shown() == observer && histogram().trial().noise());
        const double before = histogram().trial().end(1);
        drag(1, -80);
        QVERIFY(histogram().trial().isMoved());
        QVERIFY(histogram().trial().end(1) < before);
        const QParams tried = histogram().trial().qparams();
        const ObserverStats& stats = *workspace().facts().stats(observer);
        const auto noise = valueNoise(stats.fine, tried, storageRange(tried.dtype));
        QVERIFY(noise);
        QVERIFY(label("rangeError")
                    .startsWith(QStringLiteral("≈ %1 dB").arg(*noise->sqnrDb(), 0, 'f', 1)));
        QVERIFY(label("rangeError").contains(QStringLiteral("clipping")));
        // Escape puts it back, and leaves the selection alone.
        QTest::keyClick(&plot(), Qt::Key_Escape);
        QVERIFY(!histogram().trial().isMoved());
        QCOMPARE(histogram().trial().end(1), before);
        QVERIFY(!workspace().selection().isEmpty());
        QVERIFY(document().recipe() == m_start);
        // Zero stays inside.
        drag(1, -5000);
        QCOMPARE(histogram().trial().end(1), 0.0);
        QTest::keyClick(&plot(), Qt::Key_Escape);
        // By keys, and kept.
        plot().setFocus();
        QTest::keyClick(&plot(), Qt::Key_End);
        for (int i = 0; i < 20; ++i)
            QTest::keyClick(&plot(), Qt::Key_Left);
        const QParams kept = histogram().trial().qparams();
        QVERIFY(kept.scale.front() < workspace().facts().qparams(observer)->scale.front());
        find<QPushButton>("rangeApply")->click();
        settle();
        QCOMPARE(edgeRules(), 2);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const QParams* now
            = workspace().facts().qparams(workspace().facts().outputObserver(edge.value.node));
        QVERIFY(now);
        QCOMPARE(now->scale, kept.scale);
        QCOMPARE(now->zeroPoint, kept.zeroPoint);
        const QJsonObject output = told(graph().get(edge.value.node).name)["output"].toObject();
        QCOMPARE(output["observer"].toString(), QStringLiteral("fixed_qparams"));
        QCOMPARE(float(output["scale"].toArray()[0].toDouble()), kept.scale.front());
        workspace().undoStack().undo();
        settle();
        QVERIFY(document().recipe() == m_start);
    }

    void aRangeSnapsToMethods()
    {
        const Edge edge = forked();
        workspace().selectNode(edge.value.node);
        const ObserverId observer = workspace().facts().outputObserver(edge.value.node);
        QTRY_VERIFY(histogram().shown() == observer && find<QComboBox>("rangeSnap")->count() > 4);
        const auto& ways = *workspace().alternatives().ask(observer);
        for (const char* name : {"histogram, mse", "histogram, entropy", "minmax"}) {
            choose("rangeSnap", name);
            const auto way = std::find_if(ways.begin(), ways.end(),
                                          [&](const Alternative& one) { return one.name == name; });
            QCOMPARE(histogram().trial().qparams(), way->qparams);
            QCOMPARE(histogram().trial().noise()->sqnrDb(), way->sqnrDb);
        }
        QTest::keyClick(&plot(), Qt::Key_Escape);
        QVERIFY(!histogram().trial().isMoved());
    }

    /// With QS_TOUR=FOLDER the picture is kept to be looked at.
    void picture()
    {
        const QString kept = qEnvironmentVariable("QS_TOUR");
        if (kept.isEmpty())
            QSKIP("QS_TOUR names no folder");
        workspace().selectNode(forked().value.node);
        pane().revealSelection();
        QTRY_VERIFY(alternative("minmax"));
        QTRY_VERIFY(histogram().shown());
        drag(1, -60);
        QTest::qWait(500);
        QVERIFY(m_window->grab().save(kept + QStringLiteral("/what-if.png")));
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, qEnvironmentVariableIsSet("QS_DARK"));
    TestWhatIf test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_what_if.moc"
