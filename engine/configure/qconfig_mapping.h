// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/qconfig.h"

#include <string>
#include <vector>

namespace qs {

/// Kinds of rules, in rising order of precedence.
enum class RuleKind : std::uint8_t
{
    None, ///< no rule matched the node
    Global,
    ObjectType,
    ModuleNameRegex,
    ModuleName,
    ModuleNameObjectTypeOrder,
    Node,
    Edge
};
std::string_view ruleKindName(RuleKind kind); ///< "global", "object_type", "module_name_regex", ...

/// One rule: the operators it matches and the qconfig it assigns. `fromBackend` marks entries of
/// the default mapping.
struct Rule
{
    RuleKind kind = RuleKind::Global;
    std::string key; ///< type name, regex, module path or node name; "" for global
    std::string secondKey; ///< module_name_object_type_order: the type; edge: the consumer
    int index = 0; ///< module_name_object_type_order: which call; edge: input index
    NamedQConfig qconfig;
    bool fromBackend = false;
    /// From convert.qconfig_mapping: keeps matching operators float, overriding rules of higher
    /// precedence.
    bool atConvert = false;
    friend bool operator==(const Rule&, const Rule&) = default;
};

/// Assigns qconfigs to operators: torch.ao's QConfigMapping, with per-node and per-edge rules above
/// it. A value.
struct QConfigMapping
{
    std::vector<Rule> rules; ///< in the recipe's order; the backend's defaults first

    /// Returns the whole mapping that a name stands for under "global". "x86": torch.ao's
    /// `get_default_qconfig_mapping("x86")`; "x86_qat": its `get_default_qat_qconfig_mapping`,
    /// "x86_qat_v0" its version 0; "symmetric_qnnpack" and "symmetric_qnnpack_qat": its symmetric
    /// QNNPACK mappings; "tensorrt": signed, symmetric everywhere. nullopt for other names.
    static std::optional<QConfigMapping> defaultFor(std::string_view name);
    static std::vector<std::string> defaultNames();
    friend bool operator==(const QConfigMapping&, const QConfigMapping&) = default;
};

} // namespace qs
