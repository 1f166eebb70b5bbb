// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/prepare/prepared_model.h"

#include <unordered_map>

namespace qs {

/// For every value of a graph a hash of its computation from the model's inputs and
/// stored tensors. Equal keys mean equal values, in any plan or conversion of a model. A
/// value.
class ValueKeys
{
public:
    /// Of a prepared graph. Observers are ignored: they pass their value on.
    explicit ValueKeys(const PreparedModel& prepared);
    /// Of the float model itself or of a form that was made from the prepared graph. Tensors that
    /// were added on the way count by their content; an unreadable one gets a unique key.
    ValueKeys(const Graph& form, const PreparedModel& prepared);

    /// The value must be one of the graph's own, not of a subgraph.
    const Key& of(ValueRef value) const { return m_keys.at(value); }

private:
    std::unordered_map<ValueRef, Key> m_keys;
};

/// For every observer of the plan, what its statistics depend on beside the data: the values that
/// it sees, in the order in which it sees them. For one inside a custom module: that module's
/// inputs, its body and the place in it.
std::unordered_map<ObserverId, Key> observedKeys(const PreparedModel& prepared);

} // namespace qs
