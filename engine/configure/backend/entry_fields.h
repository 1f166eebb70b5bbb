// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"

#include <array>

namespace qs {

/// A dtype and its constraints as a person types them; "" = not given.
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

/// A backend's entry as typed, field by field.
struct EntryFields
{
    /// "torch.nn.Conv2d, torch.nn.ReLU"; JSON where the entry has a complex format.
    std::string pattern;
    std::string observationType; ///< "output_share_observer_with_input"
    std::string rootModule, qatModule, referenceModule, fusedModule, fuserMethod;
    std::vector<DTypeConfigFields> configs;
    friend bool operator==(const EntryFields&, const EntryFields&) = default;
};

EntryFields fieldsOf(const BackendPattern& entry);

/// The entry with the fields in it; the keys that have no field stay. Errors are those of a file
/// with such an entry: they name `place`, such as "patterns[3]", and the key.
Result<BackendPattern> withFields(const BackendPattern& entry, const EntryFields& fields,
                                  const std::string& place);

/// The pattern in one line: "torch.nn.Conv2d, torch.nn.ReLU", or its complex format.
std::string patternLine(const BackendPattern& entry);

} // namespace qs
