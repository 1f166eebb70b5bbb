// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/custom_module_borders.h"

#include "engine/graph/graph_edit.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/quantized_target.h"

namespace qs {

namespace {

bool isStep(const Node& node, std::string_view step)
{
    return isReferenceStep(node.target)
        && std::string_view(node.target).substr(kReferenceForm.size()).starts_with(step);
}

/// Makes the consumers of a quantize step read its input, which is already quantized.
void readQuantized(GraphEdit& edit, NodeId quantize, ValueRef value)
{
    for (const Use& use : edit.users({quantize, 0}))
        if (isStep(edit.get(use.node), "dequantize_per_tensor")) {
            edit.change(use.node).target = kDequantizeTensor;
            edit.setArgs(use.node, {{"self", ValueRef {quantize, 0}}});
        }
    edit.replaceUses({quantize, 0}, value);
}

} // namespace

Graph absorbCustomModuleBorders(const Graph& reference)
{
    GraphEdit edit(reference);
    for (const NodePtr& node : reference.nodes()) {
        if (!node->isOp(kModuleTarget))
            continue;
        edit.setArgs(node->id, mapRefs(edit.get(node->id).args, [&](ValueRef ref) {
                         const Node& before = edit.get(ref.node);
                         return isStep(before, "dequantize_per_tensor") ? before.args.at(0).value
                                                                        : ref;
                     }));
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
            for (const Use& use : edit.users({node->id, i}))
                if (isStep(edit.get(use.node), "quantize_per_tensor"))
                    readQuantized(edit, use.node, {node->id, i});
    }
    edit.eraseDead();
    return edit.build();
}

} // namespace qs
