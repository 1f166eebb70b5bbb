// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/edit/cures/cure_functions.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/fake_quantizers.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

/// Returns the linear's stored weight, [out, in].
Result<at::Tensor> weightOf(EditDraft& draft, const Node& linear, const ValueRef& weight)
{
    const Node& holder = draft.graph().get(weight.node);
    const auto tensors = tensorsOf(draft.graph());
    if (!holder.isStored() || !tensors)
        return refuse("the weight of " + inQuotes(linear.name) + " is not a stored tensor");
    QS_TRY(const at::IValue held, tensors->get(holder.tensor));
    if (!held.isTensor() || held.toTensor().dim() != 2 || !held.toTensor().is_floating_point())
        return refuse("the weight of " + inQuotes(linear.name) + " is not a matrix of floats");
    return held.toTensor();
}

Result<void> checkChannels(const Cure& cure, const at::Tensor& weight, const std::string& linear)
{
    const std::int64_t count = weight.size(1);
    if (cure.channels.back() >= count)
        return refuse(inQuotes(linear) + " has " + counted(count, "input channel")
                      + ", numbered from 0: there is no channel "
                      + std::to_string(cure.channels.back()));
    if (std::int64_t(cure.channels.size()) >= count)
        return refuse("all input channels of " + inQuotes(linear) + " would be floats",
                      "keep it float instead");
    return {};
}

Result<EditedNodes> splitOne(EditDraft& draft, const Cure& cure, NodeId id)
{
    const Node linear = draft.graph().get(id);
    const auto arguments = namedArguments(linear);
    const auto input = valueNamed(arguments, "input"), read = valueNamed(arguments, "weight");
    if (linear.target != kLinearTarget || !input || !read)
        return refuse(inQuotes(linear.name) + " (" + linear.target
                      + ") is not a linear layer with a stored weight");
    const InferenceScope scope;
    QS_TRY(const at::Tensor weight, weightOf(draft, linear, *arguments[*read].value.asRef()));
    QS_CHECK(checkChannels(cure, weight, linear.name));
    const at::Tensor channels
        = at::tensor(std::vector<std::int64_t>(cure.channels.begin(), cure.channels.end()));
    const at::Tensor rest = weight.index_fill(1, channels.to(weight.device()), 0).contiguous();
    const at::Tensor part = weight.index_select(1, channels.to(weight.device())).contiguous();

    const NodeId rests = addConstant(draft, linear.name + "_rest_weight", rest, id);
    const NodeId parts = addConstant(draft, linear.name + "_split_weight", part, id);
    const NodeId which = addConstant(draft, linear.name + "_split_channels", channels, id);
    const Scope around = draft.scopeAround(id);
    const auto made
        = [&](std::string_view target, const char* suffix, std::vector<NamedArgument> args) {
              Node node;
              node.target = target;
              node.name = linear.name + suffix;
              node.scope = around;
              node.args = std::move(args);
              return node;
          };
    QS_TRY(const NodeId selected,
           draft.add(made(kIndexSelectTarget, "_split_input",
                          {{"self", arguments[*input].value},
                           {"dim", Argument(std::int64_t(-1))},
                           {"index", Argument(ValueRef {which, 0})}}),
                     id));
    QS_TRY(const NodeId product,
           draft.add(made(kLinearTarget, "_split",
                          {{"input", Argument(ValueRef {selected, 0})},
                           {"weight", Argument(ValueRef {parts, 0})}}),
                     id));
    draft.put({id, *read, -1}, {rests, 0});
    const auto readers = draft.placesOf({id, 0});
    const std::vector<NodeId> order = draft.graph().order();
    const auto at = std::find(order.begin(), order.end(), id);
    QS_TRY(const NodeId sum,
           draft.add(made(kAddTarget, "_split_sum",
                          {{"self", Argument(ValueRef {id, 0})},
                           {"other", Argument(ValueRef {product, 0})}}),
                     *(at + 1)));
    for (const EditDraft::Place& reader : readers)
        draft.put(reader, {sum, 0});
    draft.graph().eraseDead();
    QS_CHECK(draft.spread({id, sum}));
    return EditedNodes {id, selected, product, sum};
}

} // namespace

Result<EditedNodes> splitLinears(EditDraft& draft, const Cure& cure)
{
    std::vector<ValueAddress> addresses {cure.at};
    addresses.insert(addresses.end(), cure.nodes.begin(), cure.nodes.end());
    EditedNodes touched;
    for (const ValueAddress& address : addresses) {
        QS_TRY(const NodeId id, draft.operatorAt(address));
        QS_TRY(const EditedNodes nodes, splitOne(draft, cure, id));
        touched.insert(touched.end(), nodes.begin(), nodes.end());
    }
    return touched;
}

} // namespace qs
