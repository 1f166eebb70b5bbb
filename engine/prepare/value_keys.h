// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/prepare/prepared_model.h"

#include <unordered_map>

namespace qs {

/// For every value of a graph, a hash of its computation from the model's inputs and stored
/// tensors. Equal keys mean equal values, in any plan or conversion of a model. A value.
class ValueKeys
{
public:
    /// Keys of a prepared graph. Observers are ignored, since they return their input.
    explicit ValueKeys(const PreparedModel& prepared);
    /// Keys of the float model or of a form that was made from the prepared graph. Tensors that the
    /// conversion added are identified by content; an unreadable one gets a unique key.
    ValueKeys(const Graph& form, const PreparedModel& prepared);

    /// The value must be one of the graph's own, not of a subgraph.
    const Key& of(ValueRef value) const { return m_keys.at(value); }
    /// Null for a value that is not one of the graph's own.
    const Key* tryOf(ValueRef value) const
    {
        const auto it = m_keys.find(value);
        return it == m_keys.end() ? nullptr : &it->second;
    }

private:
    std::unordered_map<ValueRef, Key> m_keys;
};

/// For every observer of the plan, a key of what its statistics depend on in addition to the data:
/// the observed values in their order; for an observer inside a custom module, the module's inputs,
/// its body and the position inside it.
std::unordered_map<ObserverId, Key> observedKeys(const PreparedModel& prepared);

} // namespace qs
