// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace qs {

/// Groups of modules that repeat one block: same class, same operators in the same order, same
/// literal arguments, same inner names and wiring. Tensor sizes are ignored: a block with more
/// channels is the same block. Modules without operators are excluded. Immutable; any thread.
class RepeatedModules
{
public:
    RepeatedModules() = default;
    RepeatedModules(const RepeatedModules&) = delete; // `m_groupOf` has views into `m_groups`
    RepeatedModules& operator=(const RepeatedModules&) = delete;

    /// Linear in the number of nodes times the depth of the hierarchy.
    static std::shared_ptr<const RepeatedModules> find(const Graph& graph);

    /// Groups of at least two modules, each in graph order, sorted by their first module.
    const std::vector<std::vector<std::string>>& groups() const { return m_groups; }
    /// All modules equal to this one, itself included, in graph order; empty if it has no equal.
    std::span<const std::string> of(const std::string& path) const;
    /// Those of `of(path)` at the same place in their parents, itself included: their names agree
    /// without numbers ("layers.3.attention.q" for "layers.0.attention.q", not
    /// "layers.0.attention.k"). Empty if `path` is the only one.
    std::vector<std::string> inPlace(const std::string& path) const;

private:
    std::vector<std::vector<std::string>> m_groups;
    /// Keys are views of paths in `m_groups`.
    std::unordered_map<std::string_view, std::uint32_t> m_groupOf;
};
using RepeatedModulesPtr = std::shared_ptr<const RepeatedModules>;

} // namespace qs
