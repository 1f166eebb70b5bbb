// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/entry_pattern.h"

#include "engine/base/json/json_reader.h"
#include "engine/plan/names/op_vocabulary.h"

#include <algorithm>

namespace qs {

namespace {

GraphPattern patternOf(const Json& json)
{
    GraphPattern pattern;
    if (json.is_string()) {
        const std::string& name = json.get_ref<const std::string&>();
        if (name != "*")
            pattern.targets = {canonicalTypeName(name)};
    } else if (json.is_array() && !json.empty()) {
        pattern = patternOf(json[0]);
        // [ReLU, [add, Conv2d, "*"]]: the first names the operator, the others what flows in.
        for (std::size_t i = 1; i < json.size(); ++i)
            pattern.inputs.push_back(patternOf(json[i]));
    }
    return pattern;
}

} // namespace

GraphPattern entryPattern(const BackendPattern& entry)
{
    if (!entry.complexFormat.empty())
        return patternOf(Json::parse(entry.complexFormat, nullptr, false));
    std::vector<std::string> names;
    std::transform(entry.pattern.begin(), entry.pattern.end(), std::back_inserter(names),
                   canonicalTypeName);
    return chainPattern(names);
}

} // namespace qs
