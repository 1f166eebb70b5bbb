// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/scenario_window.h"

using namespace qs;

/// Values that are not finite on the calibration data: the run goes on, and what it decided is a
/// decision like any other, which cards, findings and history show.
class TestNotFinite : public test::ScenarioWindow
{
    Q_OBJECT

private:
    bool isQuantized(const char* name)
    {
        return document().plan()->tryGet(*document().model(), node(name))->quantized;
    }
    QString findings()
    {
        QString text;
        for (auto* tree : m_window->findChildren<QTreeWidget*>(QStringLiteral("findingsPanel")))
            for (QTreeWidgetItemIterator it(tree); *it; ++it)
                text += (*it)->text(0) + QLatin1Char(' ') + (*it)->text(1) + QLatin1Char('\n');
        return text;
    }

private Q_SLOTS:
    void cleanup() { leave(); }

    void theRunGoesOnAndSaysWhat()
    {
        const QString wrong = python(QStringLiteral(
            "class Masked(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.first, self.last = nn.Linear(8, 6), nn.Linear(6, 4)\n"
            "    def forward(self, x):\n"
            "        mask = torch.log(torch.arange(6.0))\n"
            "        return self.last(torch.softmax(self.first(x) + mask, -1))\n"
            "x = torch.randn(4, 8)\n"
            "torch.export.save(torch.export.export(Masked().eval(), (x,)), folder / 'model.pt2')\n"
            "torch.save({'x': x}, folder / 'data.pt')\n"));
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        QS_STEP(open());
        QTRY_VERIFY_WITH_TIMEOUT(document().plan(), 60000);
        QVERIFY(isQuantized("add"));
        QS_STEP(runAll());
        QVERIFY2(said().isEmpty(), qPrintable(said()));
        QVERIFY(document().comparison());
        for (const Stage stage : {Stage::Plan, Stage::Calibrate, Stage::Convert, Stage::Compare})
            QVERIFY(document().hasResult(stage) && !document().isStale(stage));
        QVERIFY(!isQuantized("add"));
        QVERIFY(isQuantized("linear") && isQuantized("linear_1"));
        QVERIFY2(cards("add").contains("is not finite on the calibration data"),
                 qPrintable(cards("add")));
        m_window->showTab("findingsPanel");
        QTRY_VERIFY2(findings().contains("'add' stays float"), qPrintable(findings()));
        QVERIFY2(findings().contains("-Inf in batch 1"), qPrintable(findings()));

        QUndoStack& history = workspace().undoStack();
        QCOMPARE(history.undoText(), QStringLiteral("keep non-finite values float"));
        history.undo();
        QS_STEP(settle());
        QVERIFY(isQuantized("add"));
        QVERIFY(document().isStale(Stage::Calibrate));
        history.redo();
        QS_STEP(settle());
        QVERIFY(!isQuantized("add"));
        QTRY_VERIFY(document().hasResult(Stage::Compare) && !document().isStale(Stage::Compare));
    }
};

QTEST_MAIN(TestNotFinite)
#include "tst_ui_not_finite.moc"
