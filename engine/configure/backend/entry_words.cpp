// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/entry_words.h"

#include "engine/base/text.h"

namespace qs {

std::string observationWords(ObservationType type)
{
    switch (type) {
    case ObservationType::OutputShareObserver:
        return "output shares the input's observer";
    case ObservationType::InputOutputNotObserved:
        return "not observed";
    default:
        return "output has its own observer";
    }
}

std::string dtypeWords(const DTypeWithConstraints& value)
{
    std::string text = value.dtype ? std::string(dtypeName(*value.dtype)) : "any";
    const auto bound = [](const std::optional<std::int64_t>& number) {
        return number ? std::to_string(*number) : std::string();
    };
    if (value.quantMinLowerBound || value.quantMaxUpperBound)
        text += " " + bound(value.quantMinLowerBound) + ".." + bound(value.quantMaxUpperBound);
    if (value.scaleMinLowerBound)
        text += ", scale >= " + numberText(*value.scaleMinLowerBound);
    if (value.scaleMaxUpperBound)
        text += ", scale <= " + numberText(*value.scaleMaxUpperBound);
    if (value.scaleExactMatch)
        text += ", scale = " + numberText(*value.scaleExactMatch);
    if (value.zeroPointExactMatch)
        text += ", zero point = " + std::to_string(*value.zeroPointExactMatch);
    return text;
}

std::string dtypesWords(const DTypeConfig& config)
{
    std::string text = (config.isDynamic ? "dynamic: " : "static: ") + dtypeWords(config.input)
        + " -> " + dtypeWords(config.output);
    if (config.weight.dtype)
        text += ", weight " + dtypeWords(config.weight);
    return text;
}

std::string useWords(const BackendPattern& entry)
{
    if (!entry.fuserMethod.empty()) {
        const std::string made = fusedModuleInEval(entry);
        return made.empty() ? "fuses" : "fuses to " + made;
    }
    return observationWords(entry.observationType);
}

} // namespace qs
