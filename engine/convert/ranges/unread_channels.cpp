// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/unread_channels.h"

#include "engine/execute/tensor_store.h"
#include "engine/graph/operators/common_targets.h"

#include <ATen/ATen.h>

namespace qs {

std::vector<bool> unreadChannels(const Graph& model, NodeId reader, ValueRef value)
{
    const Node* node = model.tryGet(reader);
    if (!node || node->target != kLinearTarget || node->args.size() < 2)
        return {};
    const ValueRef* input = node->args[0].value.asRef();
    const ValueRef* weight = node->args[1].value.asRef();
    const Node* holder = weight ? model.tryGet(weight->node) : nullptr;
    const auto tensors = tensorsOf(model);
    if (!input || *input != value || !holder || !holder->isStored() || !tensors)
        return {};
    const auto held = tensors->get(holder->tensor);
    if (!held || !held->isTensor() || held->toTensor().dim() != 2 || held->toTensor().numel() == 0)
        return {};
    const at::Tensor zero = at::amax(at::abs(held->toTensor()), {0}).eq(0).cpu().contiguous();
    const bool* first = zero.const_data_ptr<bool>();
    return std::vector<bool>(first, first + zero.numel());
}

} // namespace qs
