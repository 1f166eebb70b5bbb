// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/scenario_window.h"
#include "ui/panels/findings_panel.h"

using namespace qs;

/// What the engine finds is read in the window's list of findings: the node by its title, what is
/// wrong, and what to do.
class TestNewFindings : public test::ScenarioWindow
{
    Q_OBJECT

private:
    /// What every place of the window counts.
    void counts(int quantized, int eligible)
    {
        const QJsonObject coverage {
            {"quantized", quantized}, {"eligible", eligible}, {"total", eligible}};
        checkCounts({{"coverage", coverage}}, *m_window);
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QFile::remove(file("recipe.json")); }
    void cleanup() { leave(); }

    void scalesBeyondTheBoundsOfTheBackend()
    {
        QS_STEP(made(QStringLiteral(
            "backend = models.my_backend()\n"
            "for config in backend['patterns'][0]['dtype_configs']:\n"
            "    config['output_dtype'] = {'dtype': 'quint8', 'scale_max_upper_bound': 1e-3}\n"
            "write('my_backend.json', **backend)\n"
            "tiny = dict(models.ACT7, activation=dict(models.ACT7['activation'], eps=1e-9))\n"
            "recipe(backend='my_backend.json', qconfigs={'act7': models.ACT7, 'tiny': tiny}, "
            "mapping={'global': 'act7', 'edge': [['input', 'linear', 0, 'tiny']]})\n"
            "small = [(1e-3 * torch.randn(4, 10),) for _ in range(4)]\n"
            "models.saved(folder, nn.Sequential(nn.Linear(10, 3), nn.Linear(3, 3)).eval(), "
            "torch.randn(4, 10), data=small)\n")));
        QS_STEP(runAll());
        auto* below = findingRow(QStringLiteral("below the scale_min_lower_bound of my_backend"));
        QVERIFY(below);
        QCOMPARE(below->text(0), QStringLiteral("0 · linear"));
        QVERIFY2(
            below->text(1).contains(QStringLiteral("give its observer \"eps\": 0.000244140625")),
            qPrintable(below->text(1)));
        QCOMPARE(below->toolTip(1), below->text(1));
        auto* list = find<QTreeWidget>("findingsPanel");
        click(*list, list->indexFromItem(below));
        QCOMPARE(find<QLabel>("propertyTitle")->text(), QStringLiteral("0 · linear"));
        auto* above
            = findingRow(QStringLiteral("above the scale_max_upper_bound of my_backend, 0.001"));
        QVERIFY(above);
        QVERIFY2(above->text(0).contains(QStringLiteral(" · linear")), qPrintable(above->text(0)));
        QVERIFY2(
            above->text(1).contains(QStringLiteral("cut its range, or keep the operator float")),
            qPrintable(above->text(1)));
    }

    void aReluWithoutARuleByObjectType()
    {
        QS_STEP(made(QStringLiteral(
            "models.saved(folder, nn.Sequential(nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3), nn.ReLU())"
            ".eval(), torch.randn(1, 3, 4, 4))\n"
            "recipe(mapping={'object_type': [['torch.nn.Conv2d', 'x86'], "
            "['torch.nn.BatchNorm2d', 'x86']]})\n")));
        auto* warning = findingRow(QStringLiteral("torch.ao raises LookupError"));
        QVERIFY(warning);
        QCOMPARE(warning->text(0), QStringLiteral("0 · conv2d + batch_norm + relu"));
        QVERIFY2(warning->text(1).contains(QStringLiteral("prepare.unfuse")),
                 qPrintable(warning->text(1)));
    }

    void aRowWhoseRemovalChangesNothing()
    {
        QS_STEP(made(QStringLiteral(
            "models.saved(folder, nn.Sequential(nn.Linear(8, 8), nn.ReLU()).eval(), "
            "torch.randn(4, 8))\n"
            "recipe(convert={'lowering': {'remove': [{'pattern': ['torch.nn.Linear']}]}})\n")));
        auto* warning = findingRow(QStringLiteral("[torch.nn.Linear] changes nothing"));
        QVERIFY(warning);
        QVERIFY2(warning->text(1).contains(
                     QStringLiteral("fused as [torch.nn.Linear, torch.nn.ReLU]: remove that row")),
                 qPrintable(warning->text(1)));
    }

    void anotherSpellingIsReplacedByOneClick()
    {
        QS_STEP(made(QStringLiteral(
            "models.saved(folder, models.Spelled().eval(), torch.randn(2, 3, 16, 16))\n")));
        QS_STEP(counts(3, 5));
        auto* finding = findingRow(QStringLiteral("torch.relu stay float"));
        QVERIFY(finding);
        QCOMPARE(finding->text(0), QStringLiteral("relu"));
        for (const char* words :
             {"'relu' and 1 more: ", "backend 'x86' lists torch.nn.ReLU and not this spelling",
              "4 values, 43.5 kB a sample pass between int8 and float",
              "write torch.nn.ReLU in the model, or replace the call"})
            QVERIFY2(finding->text(1).contains(QString::fromLatin1(words)),
                     qPrintable(finding->text(1) + QStringLiteral(" lacks ") + words));
        auto* list = find<QTreeWidget>("findingsPanel");
        click(*list, list->indexFromItem(finding));
        QCOMPARE(find<QLabel>("propertyTitle")->text(), QStringLiteral("relu"));
        QPushButton* apply = nullptr;
        QTRY_VERIFY((apply = find<QPushButton>("applyRemedy")) && apply->isVisible());
        QVERIFY2(find<QLabel>("whyRemedy")
                     ->text()
                     .contains(QStringLiteral("replace every call of torch.relu by torch.nn.ReLU")),
                 qPrintable(find<QLabel>("whyRemedy")->text()));
        const int steps = workspace().undoStack().index();
        QTest::mouseClick(apply, Qt::LeftButton);
        QS_STEP(settle());
        QCOMPARE(workspace().undoStack().index(), steps + 1);
        QCOMPARE(document().recipe().edits.size(), std::size_t(1));
        QS_STEP(counts(5, 5));
        m_window->showTab("findingsPanel");
        QCOMPARE(find<FindingsPanel>("findingsPanel")->count(), 0);
        press(ActionId::Undo);
        QS_STEP(settle());
        QS_STEP(counts(3, 5));
        QVERIFY(findingRow(QStringLiteral("torch.relu stay float")));
    }

    void residueAfterARowIsTakenAway()
    {
        QS_STEP(made(QStringLiteral(
            "models.saved(folder, nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(), nn.Flatten(), "
            "nn.Linear(64, 4), nn.LogSoftmax(1)).eval(), torch.randn(2, 3, 4, 4))\n"
            "recipe(convert={'lowering': {'remove': [{'pattern': ['torch.nn.Linear']}]}})\n")));
        QS_STEP(runAll());
        auto* unlowered = findingRow(QStringLiteral("no row of the lowering table"));
        QVERIFY(unlowered);
        QCOMPARE(unlowered->text(0), QStringLiteral("3 · linear"));
        auto* dead = findingRow(QStringLiteral("only to be dequantized"));
        QVERIFY(dead);
        QCOMPARE(dead->text(0), QStringLiteral("3 · linear"));
        QVERIFY(dead->parent()->text(0).startsWith(
            QStringLiteral("Quantize-dequantize pairs without effect")));
    }
};

QTEST_MAIN(TestNewFindings)
#include "tst_ui_new_findings.moc"
