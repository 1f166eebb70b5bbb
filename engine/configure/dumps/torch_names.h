// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The functions, modules and methods of the pinned PyTorch, by the names users write
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
    /// Every name whose object prints so, without the address; several if Python prints them
    /// alike.
    const std::vector<std::string>& printedAs(std::string_view text) const;

private:
    std::set<std::string> m_names;
    std::map<std::string, std::vector<std::string>, std::less<>> m_byText;
};

/// "<function relu at 0x7f10>" without its address.
std::string withoutAddress(std::string_view printed);

} // namespace qs
