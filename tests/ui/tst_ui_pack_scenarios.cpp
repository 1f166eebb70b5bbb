// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/extensions/load_pack.h"
#include "tests/ui/scenario_window.h"
#include "ui/shell/dialogs/lowering_dialog.h"

#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QRegularExpression>
#include <QTableWidget>
#include <QTimer>

using namespace qs;

/// The acceptance scenarios that need packs, which stay loaded in the process, in the window on the
/// real engine; see tst_ui_scenarios.
class TestPackScenarios : public test::ScenarioWindow
{
    Q_OBJECT

private:
    /// File > Open recipe, and that file.
    void takeRecipe(const char* name)
    {
        QTimer timer;
        connect(&timer, &QTimer::timeout, this, [&] {
            auto* files = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (!files)
                return;
            timer.stop();
            files->selectFile(file(name));
            QMetaObject::invokeMethod(files, "accept");
        });
        timer.start(0);
        press(ActionId::OpenRecipe);
    }

    /// In the dialog of lowering rows: filters, chooses the row of that pattern, takes it away.
    void takeRowAway(const QString& pattern)
    {
        press(ActionId::Lowering);
        auto* dialog = m_window->findChild<LoweringDialog*>();
        QVERIFY(dialog && dialog->isVisible());
        QTest::keyClicks(dialog->findChild<QLineEdit*>(QStringLiteral("loweringFilter")), pattern);
        auto* table = dialog->findChild<QTableWidget*>(QStringLiteral("loweringTable"));
        int row = 0;
        while (row < table->rowCount() && table->item(row, 0)->text() != pattern)
            ++row;
        QVERIFY2(row < table->rowCount(), qPrintable(pattern));
        QCOMPARE(table->item(row, 1)->text(), QStringLiteral("quantized::linear"));
        QCOMPARE(table->item(row, 2)->text(), QStringLiteral("torch.ao"));
        table->scrollToItem(table->item(row, 0));
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                          table->visualItemRect(table->item(row, 0)).center());
        auto* toggle = dialog->findChild<QPushButton*>(QStringLiteral("loweringToggle"));
        QCOMPARE(toggle->text(), QStringLiteral("Remove row"));
        QTest::mouseClick(toggle, Qt::LeftButton);
        QTRY_COMPARE(table->item(row, 2)->text(), QStringLiteral("removed"));
        QCOMPARE(toggle->text(), QStringLiteral("Restore row"));
        QTest::keyClick(dialog, Qt::Key_Escape);
        QTRY_VERIFY(!m_window->findChild<LoweringDialog*>());
        QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("remove lowering row linear"));
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QFile::remove(file("recipe.json")); }
    void cleanup() { leave(); }

    void scenario9ACustomModuleInEveryMode_data()
    {
        QTest::addColumn<QString>("keys");
        QTest::addColumn<int>("pairs");
        QTest::newRow("static") << QString() << 1;
        QTest::newRow("dynamic") << QStringLiteral("mapping={'global': 'default_dynamic'}") << 0;
        QTest::newRow("weight_only") << QStringLiteral(
            "qconfigs={'w': alone}, mapping={'global': None, 'module_name': [['unit', 'w']]}")
                                     << 0;
    }
    void scenario9ACustomModuleInEveryMode()
    {
        QFETCH(QString, keys);
        QFETCH(int, pairs);
        const QString made = python(
            QStringLiteral(
                "import shutil, subprocess\n"
                "pack = harness.SOURCE / 'resources/extensions/gated_unit/gated_unit.py'\n"
                "if not (folder / 'pack').exists():\n"
                "    subprocess.run([sys.executable, pack, folder / 'pack'], check=True)\n"
                "shutil.copy(folder / 'pack/data.pt', folder / 'data.pt')\n"
                "alone = dict(activation=dict(observer='placeholder', dtype='float32'), "
                "weight=dict("
                "observer='minmax', dtype='qint8', qscheme='per_tensor_symmetric'))\n"
                "unit, mode = 'gated_unit.GatedUnit', 'float_to_observed_custom_module_class'\n"
                "write('wrong.json', format='quantscope.recipe', version=1, backend='x86', "
                "prepare={mode: {'dynamic': {unit: 'gated_unit.ObservedGatedUnit'}}})\n"
                "recipe(extensions=['gated_unit'], %1)\n")
                .arg(keys));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        const auto pack = loadPack(file("pack").toStdString());
        QVERIFY2(pack, pack ? "" : pack.error().line().c_str());
        QS_STEP(open("pack/network.pt2"));
        QS_STEP(settle());
        const QString unit = QStringLiteral("unit · module");
        const auto isQuantized = [&] {
            const QString told = cards(unit);
            const QString mode = QStringLiteral("Mode: ") + QLatin1String(QTest::currentDataTag());
            QVERIFY2(told.contains(mode), qPrintable(told));
            QCOMPARE(verdict(unit), kQuantized);
        };
        QS_STEP(isQuantized());
        QS_STEP(runAll());
        QVERIFY2(said().isEmpty(), qPrintable(said()));
        const QString lowered = code("lowered", QStringLiteral("def forward"));
        QVERIFY2(lowered.contains(QLatin1String("QuantizedGatedUnit(")), qPrintable(lowered));
        QCOMPARE(lowered.count(QStringLiteral("torch.quantize_per_tensor(")), pairs);
        QCOMPARE(lowered.count(QStringLiteral(".dequantize()")), pairs);
        takeRecipe("wrong.json");
        QTRY_VERIFY2(said().contains(QStringLiteral("mode 'dynamic'")), qPrintable(said()));
        QS_STEP(isQuantized()); // the decisions of before
    }

    void scenario3PluginsAndExplicitPairsAroundLinear()
    {
        const QString built = QStringLiteral(QS_BINARY_DIR "/extensions/sparse_conv");
        const QString made
            = python(QStringLiteral("models.sparse_with_linear('%1/libsparse_conv.so', folder)\n"
                                    "recipe(backend='tensorrt', mapping={'global': 'tensorrt'}, "
                                    "extensions=['sparse_conv'])\n")
                         .arg(built));
        QVERIFY2(made.isEmpty(), qPrintable(made));
        const auto pack = loadPack(built.toStdString());
        QVERIFY2(pack, pack ? "" : pack.error().line().c_str());
        QS_STEP(open());
        QS_STEP(settle());
        QS_STEP(takeRowAway(QStringLiteral("linear")));
        QS_STEP(settle());
        QS_STEP(runAll());
        // The table of kernels: what runs in the pack's, and what is left, with the reason.
        m_window->showTab("formsPanel");
        auto* table = find<QTreeWidget>("formsRows");
        QTRY_VERIFY(table->topLevelItemCount() > 0);
        int plugins = 0;
        QStringList left;
        for (int i = 0; i < table->topLevelItemCount(); ++i) {
            const QTreeWidgetItem& line = *table->topLevelItem(i);
            plugins += line.text(1).startsWith(QLatin1String("sparse_conv.conv2d_relu_int8"));
            if (line.text(line.columnCount() - 1).contains(QLatin1String("no row")))
                left << line.text(0);
        }
        QCOMPARE(plugins, 5);
        left.sort();
        QCOMPARE(
            left,
            QStringList({QStringLiteral("linear · linear"), QStringLiteral("sparse.10 · conv2d")}));
        QVERIFY(findingRow(QStringLiteral("no row of the lowering table")));
        QCOMPARE(verdict(QStringLiteral("linear · linear")), kQuantized);
        const QString lowered
            = code("lowered", QStringLiteral("(linear): QuantizedLinear(Reference)"));
        const auto lines = lowered.split(QLatin1Char('\n'));
        const QString call = lines
                                 .filter(QRegularExpression(
                                     QStringLiteral("self\\.linear\\(|functional\\.linear\\(")))
                                 .value(0);
        QVERIFY2(call.contains(QLatin1String("dequantize")), qPrintable(call + lowered));
    }
};

QTEST_MAIN(TestPackScenarios)
#include "tst_ui_pack_scenarios.moc"
