// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_scope.h"

#include "engine/base/result.h"

namespace qs {

ScriptScope::ScriptScope(ScriptScope* parent, std::shared_ptr<StoredTensors> tensors)
    : m_parent(parent)
{
    m_edit.setTensors(std::move(tensors));
}

NodeId ScriptScope::append(Node node)
{
    const NodeId id = m_edit.insert(std::move(node));
    m_appended.push_back(id);
    if (!m_firstOperator)
        m_firstOperator = id;
    return id;
}

NodeId ScriptScope::addSource(Node node)
{
    return m_edit.insert(std::move(node), m_firstOperator);
}

Result<ValueRef> ScriptScope::use(const ScopedRef& ref)
{
    if (ref.scope == this)
        return ref.ref;
    if (!m_parent)
        return fail(ErrorCode::Internal, "a value is read outside the branch that makes it");
    QS_TRY(const ValueRef outside, m_parent->use(ref));
    if (const auto it = m_inside.find(outside); it != m_inside.end())
        return it->second;
    Node input;
    input.kind = NodeKind::Input;
    const Value& value = m_parent->value(outside);
    input.name = input.target = value.name;
    input.outputs.push_back(value);
    input.outputs[0].name.clear();
    const ValueRef inside {addSource(std::move(input)), 0};
    m_captures.push_back(outside);
    m_inside[outside] = inside;
    return inside;
}

const Value& ScriptScope::value(ValueRef ref) const
{
    return m_edit.get(ref.node).outputs.at(ref.index);
}

void ScriptScope::rollBack(std::size_t mark)
{
    while (m_appended.size() > mark) {
        m_edit.erase(m_appended.back());
        m_appended.pop_back();
    }
    if (m_appended.empty())
        m_firstOperator = {};
}

} // namespace qs
