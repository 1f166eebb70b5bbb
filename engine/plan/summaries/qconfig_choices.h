// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

#include <string>
#include <vector>

namespace qs {

/// How a qconfig fits operators and a backend.
enum class QConfigFit : std::uint8_t
{
    Recommended, ///< the backend's default for them, else the best that it supports
    Compatible, ///< the backend supports it for some of them
    Unfit ///< the backend supports it for no operator
};

/// A qconfig that can be given to operators.
struct QConfigChoice
{
    std::string name; ///< name in rules
    QConfig config;
    QConfigFit fit = QConfigFit::Unfit;
    bool isOwn = false; ///< the recipe holds it
    bool isNew = false; ///< the name is new: the recipe must define it first
    std::string why; ///< why it is recommended, or does not fit; else ""
    friend bool operator==(const QConfigChoice&, const QConfigChoice&) = default;
};

/// Every named qconfig with its fit to the operators of the nodes: the recipe's first, then
/// the backend's, then the presets, last those that fit only some of the operators. Each is
/// tried as the planner would, against the pattern's dtype configs and constraints. If no
/// named one fits, the list has the nearest that does (`isNew`). `backend`: that of the
/// plan.
std::vector<QConfigChoice> qconfigChoices(const Graph& graph, const Plan& plan,
                                          const Recipe& recipe, const Backend& backend,
                                          const std::vector<NodeId>& nodes);

/// Bits and scheme in a few words: "7-bit affine · weight 8-bit symmetric, per channel".
std::string qconfigWords(const QConfig& qconfig);

} // namespace qs
