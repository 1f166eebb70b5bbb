// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <string>
#include <unordered_map>

namespace qs {

/// Values of buffers between two calls, by the names of their nodes (`graph/operators/state.h`).
using ModelState = std::unordered_map<std::string, at::IValue>;

/// The values alive during one run. One thread at a time.
class Frame
{
public:
    void set(ValueRef ref, at::IValue value) { m_values[ref] = std::move(value); }
    bool has(ValueRef ref) const { return m_values.contains(ref); }
    /// The value must be alive.
    const at::IValue& get(ValueRef ref) const { return m_values.at(ref); }
    const at::IValue* tryGet(ValueRef ref) const
    {
        const auto it = m_values.find(ref);
        return it == m_values.end() ? nullptr : &it->second;
    }
    void release(ValueRef ref) { m_values.erase(ref); }
    void clear() { m_values.clear(); }
    std::size_t size() const { return m_values.size(); }
    /// The model's state as the run has updated it so far.
    const ModelState& state() const { return m_state; }
    void setState(const std::string& holder, at::IValue value)
    {
        m_state[holder] = std::move(value);
    }

private:
    std::unordered_map<ValueRef, at::IValue> m_values;
    ModelState m_state;
};

} // namespace qs
