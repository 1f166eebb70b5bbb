// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"

#include <array>

namespace qs {

/// A dtype and its constraints as text fields of the editor; "" = not given.
struct DTypeFields
{
    std::string dtype;
    std::string quantMin, quantMax, scaleMin, scaleMax, scaleExact, zeroPointExact;
    friend bool operator==(const DTypeFields&, const DTypeFields&) = default;
};

struct DTypeConfigFields
{
    DTypeFields input, output, weight;
    std::string bias;
    bool isDynamic = false;
    friend bool operator==(const DTypeConfigFields&, const DTypeConfigFields&) = default;
};

/// A backend's entry as text fields of the editor.
struct EntryFields
{
    /// "torch.nn.Conv2d, torch.nn.ReLU"; JSON if the entry has a complex format.
    std::string pattern;
    std::string observationType; ///< "output_share_observer_with_input"
    std::string rootModule, qatModule, referenceModule, fusedModule, fuserMethod;
    std::vector<DTypeConfigFields> configs;
    friend bool operator==(const EntryFields&, const EntryFields&) = default;
};

EntryFields fieldsOf(const BackendPattern& entry);

/// Returns the entry with the fields applied; keys without a field are kept. Errors are those of
/// reading such an entry from a file: they name `place`, such as "patterns[3]", and the key.
Result<BackendPattern> withFields(const BackendPattern& entry, const EntryFields& fields,
                                  const std::string& place);

/// Returns the pattern in one line: "torch.nn.Conv2d, torch.nn.ReLU", or its complex format.
std::string patternLine(const BackendPattern& entry);

} // namespace qs
