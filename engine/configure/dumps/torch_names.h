// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The functions, modules and methods of the pinned PyTorch, by their public names
/// ("torch.nn.Conv2d", "torch.nn.functional.relu", "operator.add", "reshape"), and the printed form
/// of each object. Read from resources/backends/torch_names.txt. A value.
class TorchNames
{
public:
    /// Errors: the file is missing.
    static Result<TorchNames> load();

    bool empty() const { return m_names.empty(); }
    bool has(std::string_view name) const { return m_names.count(std::string(name)) > 0; }
    /// Returns the name nearest to a word unknown to torch; empty if none is near.
    std::string nearest(std::string_view word) const;
    /// Returns all names whose object has this printed form, without the address.
    const std::vector<std::string>& printedAs(std::string_view text) const;

private:
    std::set<std::string> m_names;
    std::map<std::string, std::vector<std::string>, std::less<>> m_byText;
};

/// "<function relu at 0x7f10>" without its address.
std::string withoutAddress(std::string_view printed);

} // namespace qs
