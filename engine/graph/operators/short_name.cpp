// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/short_name.h"

#include <algorithm>

namespace qs {

std::string shortOpName(const std::string& target)
{
    const auto dot = target.find('.');
    std::string name = target;
    if (dot != std::string::npos)
        name = target.substr(dot + 1, target.find('.', dot + 1) - dot - 1);
    name.erase(0, std::min(name.find_first_not_of('_'), name.size()));
    return name.empty() ? target : name;
}

} // namespace qs
