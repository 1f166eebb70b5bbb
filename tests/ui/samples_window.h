// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/ui/edge_window.h"
#include "ui/frame/actions.h"
#include "ui/samples/confusion_model.h"
#include "ui/samples/sample_pictures.h"
#include "ui/samples/sample_table.h"

#include <QAction>
#include <QCheckBox>
#include <QJsonArray>
#include <QPushButton>
#include <QTableView>

namespace qs::test {

/// Few quantization steps, so that classes change.
inline constexpr auto kCoarse = R"({"format": "quantscope.recipe", "version": 1, "backend": "x86",
"qconfigs": {"few": {
  "activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine",
                 "quant_min": 0, "quant_max": 7},
  "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric",
             "quant_min": -4, "quant_max": 3}}},
"mapping": {"global": "few"}})";

/// The window with its Samples page at hand.
class SamplesWindow : public EdgeWindow
{
protected:
    using Table = SampleTable;
    inline static const QString kDigits = kSamples + "digits.pt2";

    QTableView& table() { return *find<QTableView>("samplesTable"); }
    QTableView& matrix() { return *find<QTableView>("confusionTable"); }
    QComboBox& rowsBox() { return *find<QComboBox>("confusionRows"); }
    QCheckBox& changedOnly() { return *find<QCheckBox>("samplesChanged"); }
    QPushButton& button(const char* name) { return *find<QPushButton>(name); }
    Table& samples() { return *m_window->findChild<Table*>(); }
    ConfusionModel& counts() { return *m_window->findChild<ConfusionModel*>(); }
    SamplePictures& pictures() { return *m_window->findChild<SamplePictures*>(); }
    EngineService& engine() { return m_engine; }
    int listed() { return table().model()->rowCount(); }
    QVariant number(int row, int column)
    {
        return table().model()->index(row, column).data(Qt::UserRole);
    }
    QJsonObject told()
    {
        return m_commandLine.quantize(document().recipe(), document().settings())["sample_errors"]
            .toObject();
    }

    void openSample()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 860);
        m_window->show();
        m_window->openModel(kDigits);
        settle();
    }
    void compareCoarsely()
    {
        openSample();
        RunSettings settings = document().settings();
        settings.device = "cpu";
        settings.comparisonData = (kSamples + "test.npz").toStdString();
        document().setSettings(settings);
        workspace().change("few steps", *parseRecipe(kCoarse, "few"));
        settle();
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QVERIFY(document().comparison());
        m_window->actions()[ActionId::ShowSamples].trigger();
        QTRY_VERIFY(table().isVisible() && listed() > 0);
    }
    QPoint centreOf(int row, int column)
    {
        matrix().scrollTo(counts().index(row, column));
        return matrix().visualRect(counts().index(row, column)).center();
    }
    void clickCell(int row, int column)
    {
        const QPoint centre = centreOf(row, column);
        QTest::mouseClick(matrix().viewport(), Qt::LeftButton, {}, centre);
    }
    /// The first cell off the diagonal, or on it, that has samples.
    std::pair<int, int> cell(bool isEqual)
    {
        for (int row = 0; row < counts().rowCount(); ++row)
            for (int column = 0; column < counts().columnCount(); ++column)
                if ((counts().rowClass(row) == counts().columnClass(column)) == isEqual
                    && counts().count(row, column) > 0)
                    return {row, column};
        qFatal("the test wants such a cell");
    }
    /// Rows of the list with these classes, counted in the document.
    static int countIn(const QJsonObject& told, const char* rowKey, std::int64_t row,
                       std::int64_t column)
    {
        int count = 0;
        for (const QJsonValue value : told["worst"].toArray()) {
            const QJsonObject one = value.toObject();
            count += one[rowKey].toInteger(-1) == row && one["int8_class"].toInteger(-1) == column;
        }
        return count;
    }
    void checkList(const QJsonObject& told)
    {
        const QJsonArray worst = told["worst"].toArray();
        QCOMPARE(listed(), int(worst.size()));
        for (int row = 0; row < listed(); ++row) {
            const QJsonObject one = worst[row].toObject();
            QCOMPARE(number(row, Table::SampleColumn).toDouble(), one["sample"].toDouble());
            QVERIFY(
                sameNumber(number(row, Table::ErrorColumn).toDouble(), one["sqnr_db"].toDouble()));
            QCOMPARE(number(row, Table::LabelColumn).toDouble(), one["label"].toDouble(-1));
            QCOMPARE(number(row, Table::FloatColumn).toDouble(), one["float_class"].toDouble(-1));
            QCOMPARE(number(row, Table::Int8Column).toDouble(), one["int8_class"].toDouble(-1));
            QCOMPARE(!number(row, Table::ChangeColumn).toString().isEmpty(),
                     one["changed"].toBool());
        }
    }
    void checkMatrix(const QJsonObject& told, const char* key)
    {
        const QJsonObject classes = told["classes"].toObject()[key].toObject();
        std::int64_t all = 0;
        QCOMPARE(counts().columnCount(), told["classes"].toObject()["count"].toInt());
        for (int row = 0; row < counts().rowCount(); ++row)
            for (int column = 0; column < counts().columnCount(); ++column) {
                const auto wanted = classes[QString::number(counts().rowClass(row))]
                                        .toObject()[QString::number(counts().columnClass(column))]
                                        .toInteger(0);
                QCOMPARE(counts().count(row, column), wanted);
                all += wanted;
            }
        QCOMPARE(all, std::int64_t(360));
    }
};

} // namespace qs::test
