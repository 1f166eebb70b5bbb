// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/blame.h"

#include "engine/base/decibels.h"

#include <cmath>

namespace qs {

std::string_view readerClassName(ReaderClass readers)
{
    switch (readers) {
    case ReaderClass::Multiplies:
        return "multiplies";
    case ReaderClass::Other:
        return "other";
    case ReaderClass::Output:
        return "output";
    }
    return "";
}

std::string_view siteKindName(BlameSite::Kind kind)
{
    switch (kind) {
    case BlameSite::Kind::Value:
        return "value";
    case BlameSite::Kind::Weight:
        return "weight";
    case BlameSite::Kind::Interior:
        return "interior";
    }
    return "";
}

std::optional<double> Blame::additivity() const
{
    if (measured <= 0)
        return std::nullopt;
    return predicted / measured;
}

bool Blame::isAdditive() const
{
    constexpr double kLeast = 0.5, kMost = 2;
    const auto found = additivity();
    return !found || (*found >= kLeast && *found <= kMost);
}

double shareOfDb(double db)
{
    return std::pow(10, -db / 10);
}

double shareDb(double share)
{
    return share > 0 ? decibelsOf(1, share) : kExactDb;
}

} // namespace qs
