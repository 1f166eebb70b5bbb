// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/configure/qconfig.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Why one dtype config does not take a qconfig.
struct Violation
{
    bool constraint = false; ///< a range, eps or exact-match bound; else a dtype or dynamic flag
    std::string text; ///< "activation eps 1e-07 (it requires a smallest scale of at least 0.0002)"
};

/// Operands of the operator other than activations.
struct OperandFacts
{
    bool functionalWeight = false; ///< the weight is an argument the backend names by index
    bool functionalBias = false;
    bool moduleWeight = false; ///< the weight is the module's own
};

/// The first dtype config that takes the qconfig, or the violations of each (same order).
struct DTypeChoice
{
    int index = -1; ///< into BackendPattern::dtypeConfigs; -1 = no config fits
    std::vector<Violation> violations; ///< one per refused config, up to the one that fitted
    /// The violation a user should read: a constraint before a dtype.
    const Violation* telling() const;
};

/// Fails observers that give no scale to quantize with, since they only record or only state a
/// dtype (torch.ao raises in convert). `what` is "activation" or "weight".
std::optional<Violation> checkChooses(const std::string& what, const ObserverSpec& spec);

/// The dtype config of a linear whose activations stay float32 and whose weight is a plain one
/// (`isPlainWeight`), which no backend of torch.ao lists; nothing for any other match.
std::optional<DTypeConfig> weightOnlyConfig(const BackendPattern& entry, const QConfig& qconfig,
                                            const OperandFacts& facts);

/// torch.ao's dtype and constraint checks (`_is_pattern_dtype_config_and_qconfig_supported_by_
/// backend`), and beyond them: a lone bound, a lone exact match, `scale_max_upper_bound` and the
/// weights of modules are checked too; such findings say "stricter than PyTorch".
DTypeChoice chooseDTypeConfig(const BackendPattern& entry, const QConfig& qconfig,
                              const OperandFacts& facts);

} // namespace qs
