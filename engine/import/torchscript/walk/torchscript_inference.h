// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_values.h"

#include <map>
#include <string_view>

namespace qs {

/// A number of dimensions: known, or derived from the assumption that layers get batches.
struct ScriptRank
{
    std::int64_t count = 0;
    bool isAssumed = false;
};

/// Ranks and element types of a program's values, inferred from operators and their operands and
/// from torch's own layers.
class ScriptInference
{
public:
    using Ranks = std::vector<std::optional<ScriptRank>>;

    std::optional<ScriptRank> findRank(const ScriptItem& item) const;
    void setRank(const ScopedRef& ref, ScriptRank rank) { m_ranks[{ref.scope, ref.ref}] = rank; }
    /// Fills in element types of the node's tensor outputs and returns their ranks: from the
    /// operator's row, else by running the operator on the meta device, which computes nothing.
    /// Substitutes stand-ins for operands of unknown type or rank if the result does not depend on
    /// them.
    Ranks inferResults(Node& node, ScriptScope& scope) const;
    /// Handles a call of a layer. Assumes that an input of unknown type (for example a scripted
    /// model's input) is a batch with the element type of the layer's weights.
    void enterLayer(std::string_view moduleClass, const ScriptItems& args);

private:
    std::map<std::pair<ScriptScope*, ValueRef>, ScriptRank> m_ranks;
};

} // namespace qs
