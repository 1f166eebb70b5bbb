// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"
#include "engine/import/torchscript/walk/torchscript_values.h"

#include <vector>

namespace qs {

/// The graph that nodes are being added to: the model's own, or the body of a branch or loop. A
/// body reads values of the graphs around it through inputs of its own.
class ScriptScope
{
public:
    ScriptScope(ScriptScope* parent, std::shared_ptr<StoredTensors> tensors);

    ScriptScope* parent() const { return m_parent; }
    GraphEdit& edit() { return m_edit; }
    /// Appends a node and returns its id.
    NodeId append(Node node);
    /// Adds an input, parameter or constant, before the operators.
    NodeId addSource(Node node);
    /// The value as this scope sees it: its own, or an input that stands for one of a scope around.
    /// Errors (Internal): the value belongs to a scope that has ended.
    Result<ValueRef> use(const ScopedRef& ref);
    /// From now on `inside`, an input, stands for a value of the scope around.
    void bind(ValueRef outside, ValueRef inside) { m_inside[outside] = inside; }
    /// What the inputs made by `use` stand for, in their order, as values of the scope around.
    const std::vector<ValueRef>& captures() const { return m_captures; }
    const Value& value(ValueRef ref) const;

    /// Nodes appended so far, and back to an earlier count of them; nobody may read those.
    std::size_t mark() const { return m_appended.size(); }
    void rollBack(std::size_t mark);

private:
    ScriptScope* m_parent;
    GraphEdit m_edit;
    std::vector<NodeId> m_appended;
    NodeId m_firstOperator;
    std::vector<ValueRef> m_captures;
    std::unordered_map<ValueRef, ValueRef> m_inside;
};

} // namespace qs
