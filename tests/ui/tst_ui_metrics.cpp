// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compare/unit_latency.h"
#include "tests/ui/edge_window.h"
#include "ui/models/metrics_model.h"
#include "ui/panels/metrics_panel.h"
#include "ui/style/theme.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>

using namespace qs;

/// The table of every node's metrics, beside the command line's result document.
class TestMetrics : public test::EdgeWindow
{
    Q_OBJECT

private:
    QTableView& table() { return *find<QTableView>("metricsTable"); }
    int rows() { return table().model()->rowCount(); }
    double number(int row, int column)
    {
        return table().model()->index(row, column).data(Qt::UserRole).toDouble();
    }
    QString name(int row)
    {
        return table().model()->index(row, MetricsModel::NodeColumn).data().toString();
    }

private Q_SLOTS:
    void initTestCase()
    {
        openAndCompare();
        auto* tabs = find<QTabWidget>("bottomTabs");
        tabs->setCurrentWidget(find<QWidget>("metricsPanel"));
    }
    void cleanupTestCase() { m_window.reset(); }

    void numbersAreTheResultDocuments()
    {
        MetricsModel model(workspace());
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        static constexpr const char* kTerms[]
            = {"born_here", "cumulative", "isolated", "inherited"};
        static constexpr const char* kMetrics[] = {"sqnr_db", "cosine", "mse", "max_abs"};
        QVERIFY(model.rowCount() > 5);
        for (int row = 0; row < model.rowCount(); ++row) {
            const QJsonObject node = told(graph().get(model.nodeOf(row)).name);
            const QJsonObject error = node["error"].toObject();
            QVERIFY(!error.isEmpty());
            for (int column = MetricsModel::FirstMetric; column < MetricsModel::kKlColumn;
                 ++column) {
                const int at = column - MetricsModel::FirstMetric;
                const QJsonValue term = error[kTerms[at / 4]];
                const QJsonValue wanted = term.toObject()[kMetrics[at % 4]];
                const auto shown = model.number(row, column);
                QCOMPARE(shown.has_value(), wanted.isDouble());
                if (shown)
                    QVERIFY(sameNumber(*shown, wanted.toDouble()));
            }
            const auto kl = model.number(row, MetricsModel::kKlColumn);
            QVERIFY(kl && error["cumulative"].toObject()["kl"].isDouble());
            QVERIFY(sameNumber(*kl, error["cumulative"].toObject()["kl"].toDouble()));
            const QJsonValue largest = node["departure"].toObject()["max"];
            const auto apart = model.number(row, MetricsModel::kStepsApartColumn);
            QCOMPARE(apart.has_value(), largest.isDouble());
            if (apart)
                QVERIFY(sameNumber(*apart, largest.toDouble()));
            const QJsonArray scale = node["output"].toObject()["scale"].toArray();
            const auto step = model.number(row, MetricsModel::StepColumn);
            QCOMPARE(step.has_value(), scale.size() == 1);
            if (step)
                QCOMPARE(float(*step), float(scale[0].toDouble()));
        }
    }

    /// The command line prints the same figures under `timing`.
    void timesAreTheEngines()
    {
        MetricsModel model(workspace());
        const auto& comparison = document().comparison();
        const auto units = unitLatencies(*document().converted(), comparison->floatTimes,
                                         comparison->loweredTimes);
        const auto isSame = [](std::optional<double> shown, std::optional<double> seconds) {
            return shown.has_value() == seconds.has_value()
                && (!shown || sameNumber(*shown, 1000 * *seconds));
        };
        int floats = 0, kernels = 0, conversions = 0;
        for (int row = 0; row < model.rowCount(); ++row) {
            const auto unit = std::find_if(units.begin(), units.end(), [&](const auto& one) {
                return one.node == model.nodeOf(row);
            });
            QVERIFY(unit != units.end());
            QVERIFY(isSame(model.number(row, MetricsModel::kFloatTimeColumn), unit->floatSeconds));
            QVERIFY(isSame(model.number(row, MetricsModel::kInt8TimeColumn), unit->int8Seconds));
            QVERIFY(isSame(model.number(row, MetricsModel::kConversionTimeColumn),
                           unit->conversionSeconds));
            floats += unit->floatSeconds.has_value();
            kernels += unit->int8Seconds.has_value();
            conversions += unit->conversionSeconds.has_value();
        }
        QVERIFY(floats > 5 && kernels > 5 && conversions > 0);
        const int column = MetricsModel::kFloatTimeColumn;
        QVERIFY(!table().isColumnHidden(column));
        QCOMPARE(table().model()->headerData(column, Qt::Horizontal).toString(),
                 QStringLiteral("float ms"));
        QVERIFY(table().model()->index(0, column).data().toString().toDouble() > 0);
    }

    void anyColumnSorts()
    {
        for (const int column : {int(MetricsModel::FirstMetric), MetricsModel::FirstMetric + 6,
                                 MetricsModel::kKlColumn, MetricsModel::kStepsApartColumn,
                                 MetricsModel::kFloatTimeColumn}) {
            for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
                table().sortByColumn(column, order);
                bool ended = false;
                for (int row = 1; row < rows(); ++row) {
                    const bool has
                        = table().model()->index(row, column).data(Qt::UserRole).isValid();
                    ended |= !has;
                    QVERIFY(has != ended); // cells without a number come last
                    if (has && order == Qt::AscendingOrder)
                        QVERIFY(number(row - 1, column) <= number(row, column));
                    else if (has)
                        QVERIFY(number(row - 1, column) >= number(row, column));
                }
            }
        }
        table().sortByColumn(MetricsModel::NodeColumn, Qt::AscendingOrder);
        for (int row = 1; row < rows(); ++row)
            QVERIFY(name(row - 1) < name(row));
    }

    void theSearchLanguageFilters()
    {
        const int all = rows();
        auto* field = find<QLineEdit>("metricsFilter");
        field->setText("module:block1");
        QVERIFY(rows() > 0 && rows() < all);
        for (int row = 0; row < rows(); ++row)
            QVERIFY(table()
                        .model()
                        ->index(row, MetricsModel::ModuleColumn)
                        .data()
                        .toString()
                        .startsWith("block1"));
        QCOMPARE(find<QLabel>("metricsNote")->text(),
                 QStringLiteral("%1 of %2").arg(rows()).arg(all));
        field->setText("sqnr<nonsense");
        QVERIFY(!find<QLabel>("metricsNote")->text().contains("node"));
        field->clear();
        QCOMPARE(rows(), all);
    }

    void rowsAreCopiedAsTheyStand()
    {
        table().sortByColumn(MetricsModel::FirstMetric, Qt::AscendingOrder);
        table().clearSelection();
        find<QPushButton>("metricsCopy")->click();
        const QStringList lines
            = QApplication::clipboard()->text().split("\r\n", Qt::SkipEmptyParts);
        QCOMPARE(int(lines.size()), rows() + 1);
        QVERIFY(lines[0].startsWith("node,operator,module,qconfig,step,born here dB"));
        for (int row = 0; row < rows(); ++row) {
            const QStringList cells = lines[row + 1].split(",");
            QCOMPARE(int(cells.size()), int(MetricsModel::kColumns));
            QCOMPARE(cells[0], name(row));
            QCOMPARE(cells[MetricsModel::FirstMetric].toDouble(),
                     number(row, MetricsModel::FirstMetric));
        }
    }

    void aRowSelectsItsNode()
    {
        const QModelIndex index = table().model()->index(1, 0);
        table().scrollTo(index);
        QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                          table().visualRect(index).center());
        QCOMPARE(workspace().facts().title(workspace().selection().current()),
                 index.data().toString());
    }

    void whatAReaderQuantizesIsItsLoss()
    {
        workspace().assign({RuleKind::ModuleName, {"stem"}}, std::string());
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        NodeId reader;
        for (const auto& node : graph().nodes())
            if (node->scope.path == "block1.conv1.relu")
                reader = node->id;
        // All is exact up to here: what it loses alone is what is born at it, its input's too.
        const NodeError* error = workspace().facts().error(reader);
        QVERIFY(error && error->inherited && error->bornHere && error->isolated);
        QVERIFY(*error->inherited->sqnrDb > 100);
        QVERIFY(std::abs(*error->bornHere->sqnrDb - *error->isolated->sqnrDb) < 0.01);
        workspace().selectNode(reader);
        const auto words = [this] {
            QStringList all;
            for (const auto* text : find<QWidget>("cardLoss")->findChildren<QLabel*>())
                all << text->text();
            return all.join(u'|');
        };
        QTRY_VERIFY2(words().contains(QStringLiteral("at its input stem.")), qPrintable(words()));
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestMetrics test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_metrics.moc"
