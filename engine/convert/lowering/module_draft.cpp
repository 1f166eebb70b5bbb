// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/module_draft.h"

#include "engine/convert/lowering/emit/prepack.h"
#include "engine/graph/operators/quantized_target.h"

namespace qs {

LoweredModuleDraft::LoweredModuleDraft(GraphEdit& edit, NodeId id)
    : m_edit(edit)
    , m_module(edit.get(id))
{
}

Result<ValueRef> LoweredModuleDraft::quantized(const Argument& argument,
                                               const std::string& what) const
{
    const ValueRef* ref = argument.asRef();
    const Node* producer = ref ? &m_edit.get(ref->node) : nullptr;
    if (!producer || !producer->isOp(kDequantizeTensor))
        return fail(ErrorCode::Unsupported, "its " + what + " is not quantized");
    return argumentRef(*producer, "self");
}

Result<ValueRef> LoweredModuleDraft::quantizedWeight(ValueRef dequantized) const
{
    return qs::quantizedWeight(m_edit, dequantized);
}

Result<ValueRef> LoweredModuleDraft::pack(const std::string& packing,
                                          std::vector<NamedArgument> arguments)
{
    return insertPackingCall(m_edit, m_module, packing, std::move(arguments), m_module.id,
                             m_module.id);
}

NodeId LoweredModuleDraft::call(Node node)
{
    return insertCall(m_edit, m_module, m_module.id, m_module.id, std::move(node));
}

} // namespace qs
