// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/scenario_window.h"

#include <QRegularExpression>

using namespace qs;

/// The acceptance scenarios of the requirements that are about LSTMs; see tst_ui_scenarios.
class TestLstmScenarios : public test::ScenarioWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QFile::remove(file("recipe.json")); }
    void cleanup() { leave(); }

    void scenario1TwoStatesOfAnLstm()
    {
        QS_STEP(made(QStringLiteral(
            "x, h = torch.randn(3, 3, 8), torch.randn(2, 3, 8)\n"
            "models.saved(folder, models.TwoStates().eval(), x, h, torch.randn(2, 3, 8))\n")));
        QS_STEP(runAll());
        const QString lowered = code("lowered", QStringLiteral("QuantizedLSTM("));
        QCOMPARE(lowered.count(QStringLiteral("QuantizedLinear(")), 2);
        static const QRegularExpression kStates(
            QStringLiteral("lstm, (\\w+), (\\w+) = self\\.lstm\\("));
        const auto states = kStates.match(lowered); // each linear reads its own
        QVERIFY2(lowered.contains(QStringLiteral("self.first(%1)").arg(states.captured(1)))
                     && lowered.contains(QStringLiteral("self.second(%1)").arg(states.captured(2))),
                 qPrintable(lowered));
        for (const char* title : {"first · linear", "second · linear"})
            QCOMPARE(value(QString::fromUtf8(title), "cardArguments", "output"),
                     QStringLiteral("float32[2, 3, 3]"));
        QCOMPARE(outputErrors().size(), std::size_t(2));
        QCOMPARE(figure("resultCoverage"), QStringLiteral("3 of 3 eligible"));
        QVERIFY(said().isEmpty());
    }

    void scenario2CountsOfAStaticLstm()
    {
        QS_STEP(made(
            QStringLiteral("models.saved(folder, models.Leaves().eval(), torch.randn(5, 3, 50), "
                           "torch.randn(1, 3, 50), torch.randn(1, 3, 50))\n")));
        QS_STEP(runAll());
        const QString prepared = code("prepared", kObserver);
        QCOMPARE(prepared.count(kObserver), 6);
        QCOMPARE(prepared.count(QStringLiteral("= self.dequant_stub_")), 3);
        const QString reference = code("reference", kQuantize);
        QCOMPARE(reference.count(kQuantize), 6);
        QCOMPARE(reference.count(kDequantize), 6);
        const QString lowered = code("lowered", QStringLiteral("QuantizedLSTM("));
        QCOMPARE(lowered.count(kQuantize), 3);
        QCOMPARE(lowered.count(kDequantize), 3);
        const auto errors = outputErrors();
        QCOMPARE(errors.size(), std::size_t(3));
        QVERIFY(std::ranges::all_of(errors, [](double db) { return db > 20; }));
        // The gates' parameters in the card, each with its histogram.
        QS_STEP(select(QStringLiteral("lstm · lstm")));
        auto* inside = find<QTreeWidget>("interiorTree");
        QVERIFY(inside && inside->isVisible());
        for (const char* gate : {"igates", "hgates", "gates", "fgate_cx", "igate_cgate",
                                 "fgate_cx_igate_cgate", "ogate_cy"}) {
            const auto found = inside->findItems(QString::fromLatin1(gate),
                                                 Qt::MatchExactly | Qt::MatchRecursive);
            QVERIFY2(!found.isEmpty() && found[0]->text(1).toDouble() > 0, gate);
            click(*inside, inside->indexFromItem(found[0]));
            QTRY_VERIFY2(histogram().caption().contains(QLatin1String(gate))
                             && histogram().barCount() > 0,
                         qPrintable(histogram().caption()));
        }
    }

    void scenario15AnLstmWithoutStates()
    {
        QS_STEP(made(QStringLiteral(
            "models.saved(folder, models.TwoStates().eval(), torch.randn(3, 3, 8))\n")));
        const QString told = cards(QStringLiteral("lstm"));
        QVERIFY2(told.contains(QStringLiteral("called without initial states: they are zeros")),
                 qPrintable(told));
        QCOMPARE(verdict(QStringLiteral("lstm")), kQuantized);
        QCOMPARE(value(QStringLiteral("lstm"), "cardArguments", "hx"),
                 QStringLiteral("zeros  2×3×8, zeros_1  2×3×8"));
        QS_STEP(runAll());
        QVERIFY2(said().isEmpty(), qPrintable(said()));
        QCOMPARE(outputErrors().size(), std::size_t(2));
    }
};

QTEST_MAIN(TestLstmScenarios)
#include "tst_ui_lstm_scenarios.moc"
