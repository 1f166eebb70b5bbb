// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/custom_config.h"

#include <algorithm>

namespace qs {

const std::vector<std::string>& optInModules()
{
    static const std::vector<std::string> classes {"torch.nn.MultiheadAttention", "torch.nn.LSTM"};
    return classes;
}

std::vector<std::string> customModulesWanted(const PrepareConfig& prepare)
{
    std::vector<std::string> wanted = prepare.customModules;
    for (const std::string& name : optInModules()) {
        const ClassChange asked {"static", name,
                                 "torch.ao.nn.quantizable" + name.substr(name.rfind('.'))};
        if (std::ranges::count(prepare.observed, asked) && !std::ranges::count(wanted, name))
            wanted.push_back(name);
    }
    return wanted;
}

} // namespace qs
