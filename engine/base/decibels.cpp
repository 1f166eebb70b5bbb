// SPDX-License-Identifier: Apache-2.0
#include "engine/base/decibels.h"

#include "engine/base/text.h"

#include <algorithm>
#include <cmath>

namespace qs {

double decibelsOf(double signal, double noise)
{
    return noise > 0 ? std::clamp(10 * std::log10(signal / noise), -kExactDb, kExactDb) : kExactDb;
}

std::string sqnrText(double db, int decimals, const char* unit)
{
    return db >= kExactDb ? "exact" : fixedText(db, decimals) + unit;
}

std::string sqnrCell(const std::optional<double>& db)
{
    return db ? sqnrText(*db, 2) : "-";
}

} // namespace qs
