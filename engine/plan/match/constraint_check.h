// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/configure/qconfig.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Why a dtype config does not support a qconfig.
struct Violation
{
    bool constraint = false; ///< a range, eps or exact-match bound; else a dtype or dynamic flag
    std::string text; ///< "activation eps 1e-07 (it requires a smallest scale of at least 0.0002)"
};

/// Operands of the operator other than activations.
struct OperandFacts
{
    bool functionalWeight = false; ///< the weight is an argument that the backend names by index
    bool functionalBias = false;
    bool moduleWeight = false; ///< the weight is a parameter of the module
};

/// The first dtype config that supports the qconfig, and the violations of those before it, in
/// order.
struct DTypeChoice
{
    int index = -1; ///< into BackendPattern::dtypeConfigs; -1 = no config fits
    std::vector<Violation> violations; ///< one per refused config, up to the one that fits
    /// The violation to report: preferably one of a constraint, else of a dtype. Null without one.
    const Violation* telling() const;
};

/// A violation for observers that choose no scale, since they only record values or only state a
/// dtype (torch.ao raises in convert). `what`: "activation" or "weight".
std::optional<Violation> checkChooses(const std::string& what, const ObserverSpec& spec);

/// The dtype config of a linear whose activations stay float32 and whose weight is a plain one
/// (`isPlainWeight`), which no backend of torch.ao lists; empty for any other match.
std::optional<DTypeConfig> weightOnlyConfig(const BackendPattern& entry, const QConfig& qconfig,
                                            const OperandFacts& facts);

/// torch.ao's dtype and constraint checks (`_is_pattern_dtype_config_and_qconfig_supported_by_
/// backend`). Also checks what torch.ao ignores: a single bound, a single exact match,
/// `scale_max_upper_bound` and the weights of modules; such violations say "stricter than PyTorch".
DTypeChoice chooseDTypeConfig(const BackendPattern& entry, const QConfig& qconfig,
                              const OperandFacts& facts);

} // namespace qs
