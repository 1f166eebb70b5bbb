// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"

#include <optional>
#include <string>
#include <unordered_map>

namespace qs {

/// Remedies for an operator for which a backend has no pattern: another name that has one
/// ("torch.matmul" for "operator.matmul"), or the backend `native`, which has the most patterns.
/// Loads names at first use. Borrows the backend. One thread.
class Alternatives
{
public:
    explicit Alternatives(const Backend& backend);
    /// The backend's name of an operator that it does not have under this name:
    /// "torch.nn.functional.relu" for "torch.relu"; "" if it has no pattern for it.
    std::string ownSpelling(const std::string& name);
    /// One sentence for the operator of that name.
    std::string suggest(const std::string& name);

private:
    using Spellings = std::unordered_map<std::string, std::string>; ///< bare word to pattern

    const Backend& m_backend;
    std::optional<Spellings> m_own, m_native;
    std::unordered_map<std::string, std::string> m_known;
};

} // namespace qs
