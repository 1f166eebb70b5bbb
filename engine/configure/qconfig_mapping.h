// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/qconfig.h"

#include <string>
#include <vector>

namespace qs {

/// What decides, in rising order of precedence.
enum class RuleKind : std::uint8_t
{
    None, ///< no rule reached the node
    Global,
    ObjectType,
    ModuleNameRegex,
    ModuleName,
    ModuleNameObjectTypeOrder,
    Node,
    Edge
};
std::string_view ruleKindName(RuleKind kind); ///< "global", "object_type", "module_name_regex", ...

/// One rule: what it matches and the qconfig it gives. `fromBackend` marks the default mapping's
/// own entries.
struct Rule
{
    RuleKind kind = RuleKind::Global;
    std::string key; ///< type name, regex, module path or node name; "" for global
    std::string secondKey; ///< module_name_object_type_order: the type; edge: the consumer
    int index = 0; ///< module_name_object_type_order: which call; edge: input index
    NamedQConfig qconfig;
    bool fromBackend = false;
    friend bool operator==(const Rule&, const Rule&) = default;
};

/// Which qconfig goes where: torch.ao's QConfigMapping, with per-node and per-edge rules above it.
/// A value.
struct QConfigMapping
{
    std::vector<Rule> rules; ///< in the recipe's order; the backend's defaults first

    /// torch.ao's `get_default_qconfig_mapping(backend)`: global plus its object-type entries.
    static std::optional<QConfigMapping> defaultFor(std::string_view backend);
    friend bool operator==(const QConfigMapping&, const QConfigMapping&) = default;
};

} // namespace qs
