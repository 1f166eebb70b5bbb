// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"

namespace qs {

/// One error or warning about a backend file.
struct BackendProblem
{
    bool error = false; ///< true: the entry cannot work as written; false: a warning
    std::string text; ///< one line: "patterns[3] (torch.nn.Conv2d, torch.nn.ReLU): ..."
    int entry = -1; ///< index into `Backend::patterns`; -1 = not a single entry
    friend bool operator==(const BackendProblem&, const BackendProblem&) = default;
};

/// Returns the problems in file order. Errors: a fusion without the entry that quantizes its
/// result, an unsatisfiable constraint, an entry without effect. Warnings: names unknown to
/// PyTorch, bounds that PyTorch ignores, duplicate patterns, keys without effect.
std::vector<BackendProblem> checkBackend(const Backend& backend);

} // namespace qs
