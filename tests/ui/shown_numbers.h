// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/compare/comparison.h"
#include "engine/convert/qparams.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QLabel>
#include <QtTest>

#include <cmath>

namespace qs {

inline bool sameNumber(double a, double b)
{
    return a == b || std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

/// One error term as the window has it against a result document's.
inline void checkTerm(const QJsonValue& wanted, const std::optional<ErrorMetrics>& shown)
{
    QCOMPARE(shown.has_value(), wanted.isObject());
    if (!shown)
        return;
    const QJsonObject terms = wanted.toObject();
    QCOMPARE(shown->sqnrDb.has_value(), terms["sqnr_db"].isDouble());
    if (shown->sqnrDb)
        QVERIFY2(
            sameNumber(*shown->sqnrDb, terms["sqnr_db"].toDouble()),
            qPrintable(
                QStringLiteral("%1, not %2").arg(*shown->sqnrDb).arg(terms["sqnr_db"].toDouble())));
    QVERIFY(sameNumber(shown->mse, terms["mse"].toDouble()));
    QVERIFY(sameNumber(shown->cosine, terms["cosine"].toDouble()));
    QVERIFY(sameNumber(shown->maxAbs, terms["max_abs"].toDouble()));
}

/// One observer's parameters and smallest value against a document's entry.
inline void checkScales(const QJsonValue& wanted, const QParams* shown, const ObserverStats* stats)
{
    if (!wanted.isObject()) {
        QVERIFY(!shown);
        return;
    }
    const QJsonArray scales = wanted.toObject()["scale"].toArray();
    QCOMPARE(shown != nullptr, !scales.isEmpty()); // parameters of the moment: none to tell
    if (!shown)
        return;
    const QJsonArray zeroPoints = wanted.toObject()["zero_point"].toArray();
    QCOMPARE(qsizetype(shown->scale.size()), scales.size());
    for (qsizetype i = 0; i < scales.size(); ++i) {
        QCOMPARE(shown->scale[std::size_t(i)], float(scales[i].toDouble()));
        QCOMPARE(shown->zeroPoint[std::size_t(i)], std::int64_t(zeroPoints[i].toDouble()));
    }
    const QJsonArray least = wanted.toObject()["min"].toArray();
    if (stats && least.size() == 1)
        QCOMPARE(stats->min, float(least[0].toDouble()));
}

/// How often the models are right and agree: the comparison's figures against a document's, and the
/// strip's words to the digit that it shows.
inline void checkTop1(const QJsonObject& wanted, const Comparison& shown, const QWidget& window)
{
    const auto percent = [](const QJsonValue& part) {
        return QStringLiteral("%1 %").arg(part.toDouble() * 100, 0, 'f', 1);
    };
    const auto text = [&window](const char* name) {
        return window.findChild<QLabel*>(QLatin1String(name))->text();
    };
    const QJsonObject agreement = wanted["agreement"].toObject();
    QCOMPARE(shown.agreement.has_value(), !agreement.isEmpty());
    if (!shown.agreement) {
        QTRY_COMPARE(text("resultAgreement"), QString());
        return;
    }
    QCOMPARE(shown.agreement->top1, agreement["top1"].toDouble());
    QCOMPARE(QString::fromStdString(shown.agreement->output), agreement["output"].toString());
    QTRY_COMPARE(text("resultAgreement"), percent(agreement["top1"]));
    const QJsonObject labels = wanted["labels"].toObject();
    QCOMPARE(shown.floatTop1.has_value(), !labels.isEmpty());
    if (labels.isEmpty())
        return;
    QCOMPARE(*shown.floatTop1, labels["float_top1"].toDouble());
    QCOMPARE(*shown.int8Top1, labels["int8_top1"].toDouble());
    QTRY_COMPARE(text("resultTop1"),
                 percent(labels["float_top1"]) + QStringLiteral(" ► ")
                     + percent(labels["int8_top1"]));
}

} // namespace qs
