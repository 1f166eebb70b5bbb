// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// What the pinned PyTorch offers to patterns and rules, by the names users write
/// ("torch.nn.Conv2d", "torch.nn.functional.relu", "operator.add", "reshape"), and how Python
/// prints each object. Read from resources/backends/torch_names.txt. A value.
class TorchNames
{
public:
    /// Errors: the file is missing.
    static Result<TorchNames> load();

    bool empty() const { return m_names.empty(); }
    bool has(std::string_view name) const { return m_names.count(std::string(name)) > 0; }
    /// The name nearest to a word that torch does not have; empty when none is near.
    std::string nearest(std::string_view word) const;
    /// Every name whose object prints so, the address left out; more than one where Python's text
    /// does not tell them apart.
    const std::vector<std::string>& printedAs(std::string_view text) const;

private:
    std::set<std::string> m_names;
    std::map<std::string, std::vector<std::string>, std::less<>> m_byText;
};

/// "<function relu at 0x7f10>" without its address.
std::string withoutAddress(std::string_view printed);

} // namespace qs
