// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"

#include <QtTest/QtTest>

namespace qs {

/// Holds what an observer saw against what another one saw, to the bit.
inline void compareStats(const ObserverStats& a, const ObserverStats& b)
{
    QCOMPARE(a.count, b.count);
    QCOMPARE(a.nonFinite, b.nonFinite);
    QCOMPARE(a.min, b.min);
    QCOMPARE(a.max, b.max);
    QCOMPARE(a.batchMin, b.batchMin);
    QCOMPARE(a.batchMax, b.batchMax);
    QCOMPARE(a.exact.counts, b.exact.counts);
    QCOMPARE(a.fine.counts, b.fine.counts);
    QCOMPARE(a.fine.min, b.fine.min);
    QCOMPARE(a.fine.max, b.fine.max);
}

} // namespace qs
