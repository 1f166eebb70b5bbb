// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/text.h"
#include "ui/session/text.h"
#include "ui/style/property_cards.h"

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
            ? QStringLiteral("%1 of %2 ops").arg(coverage["quantized"].toInt()).arg(eligible)
            : QString());
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

/// The texts of a card in the panel of properties, from the top.
inline QStringList cardTexts(const QWidget& window, const char* card)
{
    QStringList texts;
    for (const QLabel* label :
         window.findChild<Card*>(QLatin1String(card))->findChildren<QLabel*>())
        texts << label->text();
    return texts;
}

/// What the panel of properties says of the selected unit: its verdict's reason from `leader`, its
/// losses from `last`, both nodes of a result document.
inline void checkCards(const QJsonObject& leader, const QJsonObject& last, const QWidget& window)
{
    const QString name = last["name"].toString(), reason = leader["reason"].toString();
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
        const QString figure = db ? shownSqnr(*db) : QString();
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
