// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/derived_qconfig.h"

namespace qs {

NamedQConfig addQConfig(Recipe& recipe, const QConfig& qconfig, const std::string& name)
{
    for (const auto& [known, own] : recipe.qconfigs)
        if (own == qconfig)
            return {known, qconfig};
    for (const std::string& preset : presetNames())
        if (!recipe.qconfigs.contains(preset) && presetQConfig(preset) == qconfig)
            return {preset, qconfig};
    std::string free = name;
    for (int i = 2; findQConfig(recipe, free); ++i)
        free = name + std::to_string(i);
    recipe.qconfigs[free] = qconfig;
    return {free, qconfig};
}

ObserverSpec observedBy(const ObserverSpec& from, ObserverKind kind, RangeMethod range)
{
    ObserverSpec out;
    out.kind = kind;
    out.range = range;
    out.dtype = from.dtype;
    out.qscheme = from.qscheme;
    out.quantMin = from.quantMin;
    out.quantMax = from.quantMax;
    out.reduceRange = from.reduceRange;
    out.eps = from.eps;
    if (kind == from.kind) {
        out.bins = from.bins;
        out.averagingConstant = from.averagingConstant;
        out.percentile = range == from.range ? from.percentile : out.percentile;
    }
    return out;
}

} // namespace qs
