// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/compare/comparison.h"
#include "engine/convert/qparams.h"

#include <QJsonArray>
#include <QJsonObject>
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
    QVERIFY(shown);
    const QJsonArray scales = wanted.toObject()["scale"].toArray();
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

} // namespace qs
