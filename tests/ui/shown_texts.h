// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/text.h"
#include "ui/panels/verdict_list.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/main_window.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"

#include <QFileInfo>
#include <QGridLayout>
#include <QJsonArray>
#include <QJsonObject>
#include <QLabel>
#include <QToolButton>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace qs {

/// The SQNR of one term of a result document; none where it has none.
inline std::optional<double> toldSqnr(const QJsonValue& term)
{
    const QJsonValue db = term.toObject()["sqnr_db"];
    return db.isDouble() ? std::optional(db.toDouble()) : std::nullopt;
}

/// What the result strip should say of the worst output, from a result document.
inline QString wantedOutput(const QJsonArray& outputs)
{
    std::optional<double> least;
    QString text;
    for (const QJsonValue value : outputs) {
        const QJsonObject output = value.toObject();
        const auto lowered = toldSqnr(output["lowered"]);
        const auto reference = toldSqnr(output["cumulative"]);
        const auto own = output["lowered"].isObject() ? lowered : reference;
        if (!own || (least && *own >= *least))
            continue;
        least = own;
        text = shownSqnr(*own);
        if (lowered && reference)
            text += QStringLiteral(" (reference %1)").arg(shownSqnr(*reference, ""));
    }
    return text;
}

/// The strip's words are those of a result document: the worst output, its size, its coverage and
/// the losses of the worst of `nodes`, the document's whose figures are shown.
inline void checkStrip(const QJsonObject& wanted, const std::vector<QJsonObject>& nodes,
                       const QWidget& window)
{
    const auto text = [&window](const char* name) {
        return window.findChild<QLabel*>(QLatin1String(name))->text();
    };
    QTRY_COMPARE(text("resultOutput"), wantedOutput(wanted["outputs"].toArray()));
    const QJsonObject coverage = wanted["coverage"].toObject();
    const int eligible = coverage["eligible"].toInt();
    QTRY_COMPARE(
        text("resultCoverage"),
        eligible > 0
            ? QStringLiteral("%1 of %2 eligible").arg(coverage["quantized"].toInt()).arg(eligible)
            : QString());
    const QJsonObject data = wanted["data"].toObject();
    const QString compared = data["comparison"].toString();
    QTRY_COMPARE(
        text("resultData"),
        QStringLiteral("%1, %2").arg(
            QFileInfo(compared.isEmpty() ? data["calibration"].toString() : compared).fileName(),
            toQString(counted(std::int64_t(data["compared_samples"].toInt()), "sample"))));
    const double before = wanted["weights"].toObject()["float_bytes"].toDouble();
    const double after = wanted["weights"].toObject()["int8_bytes"].toDouble();
    QTRY_COMPARE(text("resultSize"),
                 before > 0 ? QStringLiteral("%1 ► %2 (%3 %)")
                                  .arg(toQString(bytesText(before)), toQString(bytesText(after)))
                                  .arg(std::lround(100 * after / before))
                            : QString());
    std::vector<double> born;
    for (const QJsonObject& node : nodes)
        if (const auto db = toldSqnr(node["error"].toObject()["born_here"]))
            born.push_back(*db);
    std::sort(born.begin(), born.end());
    for (std::size_t i = 0; i < 3; ++i) {
        const auto* chip = window.findChild<QToolButton*>(QStringLiteral("resultWorst%1").arg(i));
        QTRY_VERIFY2(chip->isHidden() == (i >= born.size()), qPrintable(chip->toolTip()));
        if (i < born.size())
            QTRY_VERIFY2(chip->toolTip().contains(": " + shownSqnr(born[i]) + " born here"),
                         qPrintable(chip->toolTip() + ", not " + shownSqnr(born[i])));
    }
}

/// The texts of a card in the panel of properties, those of a row in their order.
inline QStringList cardTexts(const QWidget& window, const char* card)
{
    QStringList texts;
    for (const QLabel* label :
         window.findChild<Card*>(QLatin1String(card))->findChildren<QLabel*>())
        if (!label->isHidden()) // rows are kept to be filled again
            texts << label->text();
    return texts;
}

/// What a row of a card has beside its label; empty where no row has the label.
inline QString cardValue(const QWidget& window, const char* card, const QString& row)
{
    for (const QLabel* label :
         window.findChild<Card*>(QLatin1String(card))->findChildren<QLabel*>()) {
        const auto* grid = qobject_cast<QGridLayout*>(label->parentWidget()->layout());
        if (label->isHidden() || label->text() != row || !grid)
            continue;
        int line = 0, column = 0, lines = 0, columns = 0;
        grid->getItemPosition(grid->indexOf(label), &line, &column, &lines, &columns);
        for (int i = 0; i < grid->count(); ++i) { // hidden ones of other rows may lie there too
            const auto* value = qobject_cast<QLabel*>(grid->itemAt(i)->widget());
            int at = 0, from = 0, high = 0, wide = 0;
            grid->getItemPosition(i, &at, &from, &high, &wide);
            if (value && !value->isHidden() && at == line && from == column + columns)
                return value->text();
        }
    }
    return {};
}

/// Every count of operators in the window is that of a result document: in the tiles, the status
/// bar, the list of verdicts and, with the whole model selected, in Why.
inline void checkCounts(const QJsonObject& wanted, MainWindow& window)
{
    const QJsonObject coverage = wanted["coverage"].toObject();
    const QString part = QStringLiteral("%1 of %2 eligible")
                             .arg(coverage["quantized"].toInt())
                             .arg(coverage["eligible"].toInt());
    const int total = coverage["total"].toInt();
    const QString whole
        = QStringLiteral("%1 operators quantized, of %2 in all").arg(part).arg(total);
    const auto& pipeline = window.workspace().pipeline();
    QCOMPARE(pipeline.status(Stage::Plan).text, part);
    const QString operators = toQString(counted(std::int64_t(total), "operator"));
    QCOMPARE(pipeline.status(Stage::Open).text, operators);
    const QString status = window.findChild<QLabel*>("statusSummary")->text();
    QVERIFY2(status.contains(whole), qPrintable(status));
    if (!window.workspace().verdictFilter())
        QCOMPARE(window.verdictList().summary(), operators);
    window.workspace().selectEntry(FoldTree::kRoot);
    const auto why = [&window] {
        const auto* label = window.findChild<Card*>("cardWhy")->findChild<QLabel*>("whyCoverage");
        return label && !label->isHidden() ? label->text() : QString();
    };
    QTRY_COMPARE(why(), whole);
    int listed = 0;
    for (int verdict = 0; verdict <= int(Verdict::Shared); ++verdict) {
        const int count = window.verdictList().count(Verdict(verdict));
        listed += count;
        QTRY_COMPARE(cardValue(window, "cardWhy", verdictText(Verdict(verdict))),
                     count == 0 ? QString() : QString::number(count));
    }
    QCOMPARE(listed, total);
}

/// What the panel of properties says of the selected unit: its verdict's reason from `leader`, its
/// losses from `last`, both nodes of a result document.
inline void checkCards(const QJsonObject& leader, const QJsonObject& last, const QWidget& window)
{
    const QString name = last["name"].toString();
    auto& main = const_cast<MainWindow&>(dynamic_cast<const MainWindow&>(window));
    const QString reason = main.workspace().facts().titled(leader["reason"].toString());
    const auto why = [&window] { return cardTexts(window, "cardWhy"); };
    QTRY_VERIFY2(reason.isEmpty() || why().contains(reason),
                 qPrintable(QStringLiteral("%1: %2, not %3").arg(name, why().join(" | "), reason)));
    const QJsonObject terms = last["error"].toObject();
    const std::pair<const char*, const char*> rows[] = {{"isolated", "isolated"},
                                                        {"inherited", "inherited"},
                                                        {"cumulative", "cumulative"},
                                                        {"born_here", "born here"}};
    for (const auto& [key, row] : rows) {
        const auto db = toldSqnr(terms[key]);
        const QJsonValue error = terms[key]["standard_error_db"];
        const QString figure = (db ? shownSqnr(*db) : QString())
            + (error.isDouble() ? QStringLiteral(" ±%1").arg(error.toDouble(), 0, 'f', 2)
                                : QString());
        const auto shown = [&window, label = QLatin1String(row)] {
            const QStringList texts = cardTexts(window, "cardLoss");
            const auto at = texts.indexOf(label);
            return at < 0 ? QString() : texts.value(at + 1);
        };
        QTRY_VERIFY2(
            shown() == figure,
            qPrintable(QStringLiteral("%1, %2: '%3', not '%4'").arg(name, row, shown(), figure)));
    }
}

} // namespace qs
