// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_values.h"

#include <map>
#include <string_view>

namespace qs {

/// A number of dimensions that is known, or follows from one, by the assumption that layers are
/// given batches.
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
    /// Fills in element types of the node's tensor outputs and returns their numbers of dimensions:
    /// by the operator's row, else as the operator itself answers on the meta device, which
    /// computes nothing. May take an operand whose type or dimensions are not known for any other
    /// where the answer does not depend on it.
    Ranks inferResults(Node& node, ScriptScope& scope) const;
    /// A call of a layer. An input of unknown type (as in a scripted model whose input goes
    /// straight into a layer) is taken to be a batch with the type of the layer's weights.
    void enterLayer(std::string_view moduleClass, const ScriptItems& args);

private:
    std::map<std::pair<ScriptScope*, ValueRef>, ScriptRank> m_ranks;
};

} // namespace qs
