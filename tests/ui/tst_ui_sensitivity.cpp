// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/module_statistics.h"
#include "tests/ui/edge_window.h"
#include "tests/ui/tour/picture_check.h"
#include "ui/cure/sensitivity_model.h"
#include "ui/cure/sensitivity_plot.h"
#include "ui/frame/actions.h"
#include "ui/style/window_style.h"

#include <QAction>
#include <QApplication>
#include <QHeaderView>
#include <QJsonArray>
#include <QPushButton>
#include <QSettings>
#include <QTableView>

#include <cmath>

using namespace qs;

/// The Sensitivity page on the real engine and the digits sample, beside `quantscope why`.
class TestSensitivity : public test::EdgeWindow
{
    Q_OBJECT

    using Model = SensitivityModel;
    inline static const QString kDigits = test::kSamples + "digits.pt2";

    QTableView& table() { return *find<QTableView>("sensitivityTable"); }
    SensitivityPlot& plot() { return *find<SensitivityPlot>("sensitivityPlot"); }
    QWidget& dots() { return *find<QWidget>("sensitivityDots"); }
    QPushButton& button(const char* name) { return *find<QPushButton>(name); }
    Model& units() { return *m_window->findChild<Model*>(); }
    NodeId nodeAt(int row) { return units().units()[std::size_t(row)].noise.node; }
    QString stateText() { return label("sensitivityState"); }
    bool isSelected(int row)
    {
        return units().selectedRows() == std::vector {row}
        && workspace().selection().contains(nodeAt(row));
    }
    QString shownTitle()
    {
        const QModelIndexList rows = table().selectionModel()->selectedRows();
        return rows.size() == 1 ? rows.front().data().toString() : QString();
    }
    QModelIndex cell(int row, int column) { return table().model()->index(row, column); }
    void clickCell(int row, int column)
    {
        table().scrollTo(cell(row, column));
        QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                          table().visualRect(cell(row, column)).center());
    }
    /// The document of `why --json` on the window's decisions.
    QJsonObject toldByWhy()
    {
        QFile file(m_folder.filePath("decided.json"));
        const QByteArray text = QByteArray::fromStdString(recipeToJson(document().recipe()));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("the recipe cannot be written");
        file.close();
        QProcess process;
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                      {"why", kDigits, "--recipe", file.fileName(), "--data",
                       QString::fromStdString(document().settings().calibrationData), "--device",
                       "cpu", "--json"});
        if (!process.waitForFinished(120000) || process.exitCode() != 0)
            qFatal("%s", process.readAllStandardError().constData());
        return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    }
    void findCauses()
    {
        QTest::mouseClick(&button("sensitivityRemedy"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(
            document().diagnosis() && settled() && !workspace().causes().isRunning(), 60000);
        QTRY_VERIFY(table().isVisible() && plot().dotCount() > 0);
    }
    bool isSorted(int column, Qt::SortOrder order)
    {
        for (int row = 1; row < table().model()->rowCount(); ++row) {
            const QVariant before = cell(row - 1, column).data(Qt::UserRole);
            const QVariant now = cell(row, column).data(Qt::UserRole);
            const bool isNumber = now.typeId() == QMetaType::Double;
            const bool isLess = isNumber ? now.toDouble() < before.toDouble()
                                         : now.toString() < before.toString();
            const bool isMore = isNumber ? now.toDouble() > before.toDouble()
                                         : now.toString() > before.toString();
            if (order == Qt::AscendingOrder ? isLess : isMore)
                return false;
        }
        return true;
    }

private Q_SLOTS:
    void initTestCase() { QSettings().clear(); }
    void cleanupTestCase() { m_window.reset(); }

    void emptyStates()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->show();
        QVERIFY2(stateText().startsWith("Open a model"), qPrintable(stateText()));
        m_window->openModel(kDigits);
        settle();
        QTRY_VERIFY2(stateText().startsWith("Not calibrated yet"), qPrintable(stateText()));
        QCOMPARE(button("sensitivityRemedy").text(), QStringLiteral("Calibrate…"));
        openAndCompare();
        QTest::keyClick(m_window.get(), Qt::Key_I, Qt::ControlModifier | Qt::AltModifier);
        QTRY_VERIFY(button("sensitivityRemedy").isVisible());
        QCOMPARE(m_window->focusWidget(), &button("sensitivityRemedy"));
        QVERIFY2(stateText().contains("not searched yet"), qPrintable(stateText()));
        QCOMPARE(button("sensitivityRemedy").text(), QStringLiteral("Find causes"));
        findCauses();
    }

    void everyRowIsTheCommandLines()
    {
        const QJsonArray told = toldByWhy()["units"].toArray();
        QVERIFY(told.size() > 3);
        QCOMPARE(units().rowCount(), int(told.size()));
        QCOMPARE(plot().dotCount(), int(told.size()));
        const auto macs = macsByOperator(graph());
        double all = 0, shown = 0;
        for (const auto& [node, count] : macs)
            all += double(count);
        for (int row = 0; row < told.size(); ++row) {
            const QJsonObject one = told[row].toObject();
            const UnitSensitivity& unit = units().units()[std::size_t(row)];
            const auto number = [&](int column) {
                return units().index(row, column).data(Qt::UserRole).toDouble();
            };
            QCOMPARE(QString::fromStdString(graph().get(nodeAt(row)).name), one["node"].toString());
            QCOMPARE(units().index(row, Model::UnitColumn).data().toString(),
                     one["title"].toString());
            QVERIFY(number(Model::NoiseColumn) == one["part"].toDouble());
            QVERIFY(unit.noise.noise.standardError == one["part_error"].toDouble());
            const double gain = 10 * std::log10(1 / (1 - one["part"].toDouble()));
            QVERIFY(std::abs(number(Model::GainColumn) - gain) < 1e-9);
            double own = 0;
            const auto& tree = *workspace().foldTree();
            for (const NodeId node : tree.nodesOf(tree.unitOf(nodeAt(row))))
                own += macs.contains(node) ? double(macs.at(node)) : 0;
            QCOMPARE(number(Model::MacsColumn), own / all);
            shown += number(Model::MacsColumn);
            QVERIFY(units().describe(row).startsWith(one["title"].toString()));
        }
        QCOMPARE(shown, 1.0); // all layers of the sample are quantized
        QVERIFY(isSorted(Model::GainColumn, Qt::DescendingOrder));
    }

    void aChoiceSelectsEverywhere()
    {
        clickCell(1, Model::UnitColumn);
        const int first = units().selectedRows().at(0);
        QVERIFY(isSelected(first));
        QCOMPARE(shownTitle(), units().titleOf(first));
        QCOMPARE(plot().ringCount(), 1);
        QVERIFY(dots().accessibleDescription().startsWith(units().titleOf(first)));
        QTest::keyClick(&table(), Qt::Key_Down);
        QVERIFY(!isSelected(first));
        QCOMPARE(units().selectedRows().size(), std::size_t(1));
        // From the graph: the row and its dot follow.
        for (int row = 0; row < units().rowCount(); ++row) {
            workspace().selectNode(nodeAt(row));
            QVERIFY(isSelected(row));
            QCOMPARE(shownTitle(), units().titleOf(row));
            QCOMPARE(plot().ringCount(), 1);
        }
        workspace().selection().clear();
        QCOMPARE(shownTitle(), QString());
        QCOMPARE(plot().ringCount(), 0);
        // From the plot.
        QTRY_VERIFY(dots().rect().contains(plot().dotPosition(0)));
        QTest::mouseMove(&dots(), plot().dotPosition(0));
        QTest::mouseClick(&dots(), Qt::LeftButton, {}, plot().dotPosition(0));
        QVERIFY(isSelected(0));
        QCOMPARE(shownTitle(), units().titleOf(0));
        QTRY_COMPARE(dots().toolTip(), units().describe(0));
        dots().setFocus();
        QTest::keyClick(&dots(), Qt::Key_End);
        const int last = units().selectedRows().at(0);
        QTest::keyClick(&dots(), Qt::Key_Left);
        QVERIFY(!isSelected(last));
        QTest::keyClick(&dots(), Qt::Key_Right);
        QVERIFY(isSelected(last));
    }

    void everyColumnSorts()
    {
        QVERIFY(!table().isColumnHidden(Model::StateColumn));
        QHeaderView& head = *table().horizontalHeader();
        for (int column = 0; column < Model::kColumns; ++column) {
            clickCell(0, column);
            const QString title = shownTitle();
            QTest::keyClick(&table(), Qt::Key_Space);
            const Qt::SortOrder order = head.sortIndicatorOrder();
            QCOMPARE(head.sortIndicatorSection(), column);
            QVERIFY2(isSorted(column, order), qPrintable(QString::number(column)));
            QCOMPARE(shownTitle(), title); // the choice stays
            QTest::keyClick(&table(), Qt::Key_Space);
            QVERIFY(head.sortIndicatorOrder() != order);
            QVERIFY(isSorted(column, head.sortIndicatorOrder()));
            const int next = (column + 1) % Model::kColumns;
            QTest::mouseClick(head.viewport(), Qt::LeftButton, {},
                              {head.sectionViewportPosition(next) + head.sectionSize(next) / 2,
                               head.height() / 2});
            QCOMPARE(head.sortIndicatorSection(), next);
            QVERIFY(isSorted(next, head.sortIndicatorOrder()));
        }
    }

    void otherDecisionsMarkThem()
    {
        const int row = 0;
        const auto now = [&] { return units().index(row, Model::StateColumn).data().toString(); };
        QVERIFY(!button("sensitivityAgain").isVisible());
        workspace().assign({RuleKind::Node, {graph().get(nodeAt(row)).name}}, std::string());
        settle();
        QTRY_VERIFY2(label("sensitivityNote").contains("out of date, recipe changed"),
                     qPrintable(label("sensitivityNote")));
        QVERIFY(button("sensitivityAgain").isVisible());
        QVERIFY2(now() != "quantized", qPrintable(now()));
        workspace().undoStack().undo();
        settle();
        QTRY_VERIFY(!button("sensitivityAgain").isVisible());
    }

    void textsFit_data()
    {
        QTest::addColumn<int>("percent");
        QTest::addColumn<bool>("isDark");
        QTest::addRow("100 light") << 100 << false;
        QTest::addRow("150 dark") << 150 << true;
        QTest::addRow("200 light") << 200 << false;
    }
    void textsFit()
    {
        QFETCH(int, percent);
        QFETCH(bool, isDark);
        using Colours = WindowStyle::Colours;
        applyStyle(*qApp, {isDark ? Colours::Dark : Colours::Light, percent});
        openAndCompare();
        m_window->resize(1280, 720);
        m_window->actions()[ActionId::ShowSensitivity].trigger();
        auto& page = *find<QWidget>("sensitivityPage");
        const auto fits = [&](const char* name) {
            (void)QTest::qWaitFor([&] { return clippedTexts(page).isEmpty(); }, 1000);
            QVERIFY2(clippedTexts(page).isEmpty(), qPrintable(clippedTexts(page).join(u'\n')));
            const QSize least = m_window->minimumSizeHint();
            QVERIFY(least.width() <= 1280 && least.height() <= 720);
            // With QS_TOUR=FOLDER every picture is written there.
            if (const QString place = qEnvironmentVariable("QS_TOUR"); !place.isEmpty())
                m_window->grab().save(
                    QStringLiteral("%1/sensitivity-%2-%3.png").arg(place).arg(percent).arg(name));
        };
        fits("empty");
        findCauses();
        workspace().selectNode(nodeAt(0));
        fits("units");
        QVERIFY(percent > 100 || !table().isColumnHidden(Model::StateColumn));
        applyStyle(*qApp, {});
    }
};

QTEST_MAIN(TestSensitivity)
#include "tst_ui_sensitivity.moc"
