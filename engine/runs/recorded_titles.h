// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/run_record.h"

#include <span>
#include <string>
#include <unordered_map>

namespace qs {

/// Titles of a graph's nodes for users: the module path; plus the operator if a module has several
/// nodes, plus the node's name if it has several equal operators: "features.0.2", "layer1.0 · add",
/// "layer1.0 · relu (relu_2)". A value type.
class RecordedTitles
{
public:
    /// Every node's title is its name.
    RecordedTitles() = default;
    explicit RecordedTitles(std::span<const NodeIdentity* const> nodes);
    explicit RecordedTitles(const Graph& model);

    /// Title of the node with that name in its file; the name itself if unknown.
    std::string of(const std::string& name) const;

private:
    void add(std::span<const NodeIdentity* const> nodes);

    std::unordered_map<std::string, std::string> m_titles; ///< titles by name
};

} // namespace qs
