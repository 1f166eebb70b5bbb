// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/form_errors.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kOrderOfSumsDb = 90;
constexpr double kAllowedDb = 1;
/// Three times 20 / ln 10: the standard deviation, in dB, of the ratio of two noises of n values is
/// about 20 / ln 10 / sqrt(n).
constexpr double kChanceDb = 26;

} // namespace

std::string dbText(double db)
{
    return sqnrText(db, 1, " dB");
}

bool losesMore(const FormErrors& errors)
{
    if (errors.values == 0)
        return false;
    const double allowed = std::max(kAllowedDb, kChanceDb / std::sqrt(double(errors.values)));
    return errors.loweredDb < std::min(errors.referenceDb, kOrderOfSumsDb) - allowed;
}

std::string lossText(const std::string& output, const FormErrors& errors)
{
    return "output '" + output + "': the lowered form is at " + dbText(errors.loweredDb)
        + " of the float model, the reference form at " + dbText(errors.referenceDb)
        + "; use the reference form, or take rows out of the lowering table "
          "(convert.lowering.remove)";
}

} // namespace qs
