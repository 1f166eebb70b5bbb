// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"

namespace qs {

/// One error or warning about a backend file.
struct BackendProblem
{
    bool error = false; ///< the entry cannot work as written; else a warning
    std::string text; ///< one line: "patterns[3] (torch.nn.Conv2d, torch.nn.ReLU): ..."
    int entry = -1; ///< index into `Backend::patterns`; -1 = of none alone
    friend bool operator==(const BackendProblem&, const BackendProblem&) = default;
};

/// Errors: a fusion without the entry that quantizes its result, a constraint nothing can satisfy,
/// an entry that does nothing. Warnings: names that PyTorch does not have, bounds that PyTorch
/// ignores, a pattern given twice, keys without an effect. In file order.
std::vector<BackendProblem> checkBackend(const Backend& backend);

} // namespace qs
