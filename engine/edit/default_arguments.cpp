// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/default_arguments.h"

#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"

#include <mutex>
#include <unordered_map>

namespace qs {

namespace {

std::vector<NamedArgument> readDefaults(const std::string& target)
{
    std::vector<NamedArgument> out;
    const auto op = findOperator(target);
    if (!op || !op->hasSchema())
        return out;
    for (const c10::Argument& slot : op->schema().arguments())
        if (slot.default_value())
            out.push_back({slot.name(), constantArgument(*slot.default_value(), slot.real_type())});
    return out;
}

} // namespace

const std::vector<NamedArgument>& defaultArguments(const std::string& target)
{
    static std::mutex mutex;
    static std::unordered_map<std::string, std::vector<NamedArgument>> known;
    const std::lock_guard lock(mutex);
    const auto it = known.find(target);
    return it != known.end() ? it->second
                             : known.emplace(target, readDefaults(target)).first->second;
}

} // namespace qs
