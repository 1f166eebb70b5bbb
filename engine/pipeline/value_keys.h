// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/key.h"
#include "engine/prepare/prepared_model.h"

#include <unordered_map>

namespace qs {

/// For every value of a prepared graph a hash of all that computes it from the model's inputs and
/// stored tensors. Observers count for nothing: they pass their value on. So equal keys in two
/// plans of one model mean equal values, whatever else the plans decide. A value.
class ValueKeys
{
public:
    explicit ValueKeys(const PreparedModel& prepared);

    /// The value must be one of the prepared graph's own, not of a subgraph.
    const Key& of(ValueRef value) const { return m_keys.at(value); }

private:
    std::unordered_map<ValueRef, Key> m_keys;
};

/// For every observer of the plan, what its statistics depend on beside the data: the values that
/// it sees, in the order in which it sees them. For one inside a custom module: that module's
/// inputs, its body and the place in it.
std::unordered_map<ObserverId, Key> observedKeys(const PreparedModel& prepared);

} // namespace qs
