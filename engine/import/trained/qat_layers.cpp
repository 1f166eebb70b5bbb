// SPDX-License-Identifier: Apache-2.0
#include "engine/import/trained/qat_layers.h"

#include "engine/graph/operators/fake_quantizers.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <optional>

namespace qs {

namespace {

const std::string kConv = "torch.nn.Conv", kLinear = "torch.nn.Linear";

const Node* makerOf(const GraphEdit& edit, const Argument* value)
{
    const ValueRef* ref = value ? value->asRef() : nullptr;
    return ref && ref->index == 0 ? edit.tryGet(ref->node) : nullptr;
}

/// Returns the input of a chain of reshapes.
std::optional<ValueRef> beneathReshapes(const GraphEdit& edit, const Argument* value)
{
    const Node* node = makerOf(edit, value);
    while (node && isReshape(node->target)) {
        value = node->tryArg("self");
        node = makerOf(edit, value);
    }
    const ValueRef* ref = value ? value->asRef() : nullptr;
    return ref ? std::optional(*ref) : std::nullopt;
}

/// Returns the other factor of a product with `factor`, which may be reshaped.
std::optional<ValueRef> otherFactor(const GraphEdit& edit, const Node& product, ValueRef factor)
{
    for (const auto& [one, other] : {std::pair("self", "other"), std::pair("other", "self")})
        if (beneathReshapes(edit, product.tryArg(one)) == factor)
            if (const Argument* left = product.tryArg(other); left && left->asRef())
                return *left->asRef();
    return std::nullopt;
}

/// A layer whose weight is multiplied by a factor and whose result is divided by it.
struct ScaledLayer
{
    NodeId layer;
    ValueRef weight; ///< before the product
    ValueRef result; ///< the quotient, or its sum with the bias
    Argument bias;
};

std::optional<ScaledLayer> scaledLayer(const GraphEdit& edit, const Node& quotient)
{
    const Node* layer = makerOf(edit, quotient.tryArg("self"));
    const auto factor = beneathReshapes(edit, quotient.tryArg("other"));
    if (!layer || !factor || edit.users({layer->id, 0}).size() != 1)
        return std::nullopt;
    const OperatorFacts& facts = factsOf(layer->target);
    const Node* product
        = facts.weight.empty() ? nullptr : makerOf(edit, layer->tryArg(facts.weight));
    if (!product || product->target != kMultiplyTarget)
        return std::nullopt;
    const auto weight = otherFactor(edit, *product, *factor);
    const Argument* zeros = layer->tryArg(facts.bias);
    const Node* filled = makerOf(edit, zeros);
    if (!weight || (zeros && !zeros->isNone() && !(filled && makesZeros(filled->target))))
        return std::nullopt;
    ScaledLayer found {layer->id, *weight, {quotient.id, 0}, {}};
    const auto users = edit.users(found.result);
    const Node* sum = users.size() == 1 ? edit.tryGet(users[0].node) : nullptr;
    if (!sum || sum->target != kAddTarget)
        return found;
    const auto bias = otherFactor(edit, *sum, found.result);
    const Argument shown = bias ? Argument(*bias) : Argument();
    const auto stored = beneathReshapes(edit, &shown);
    if (!stored || !edit.get(stored->node).isStored())
        return found;
    found.result = {sum->id, 0};
    found.bias = *stored;
    return found;
}

void restore(GraphEdit& edit, const ScaledLayer& found)
{
    const Node& layer = edit.get(found.layer);
    const OperatorFacts& facts = factsOf(layer.target);
    auto args = layer.args;
    for (NamedArgument& arg : args) {
        if (arg.name == facts.weight)
            arg.value = found.weight;
        if (arg.name == facts.bias)
            arg.value = found.bias;
    }
    if (!layer.tryArg(facts.bias) && !found.bias.isNone())
        args.push_back({facts.bias, found.bias});
    edit.setArgs(found.layer, std::move(args));
    edit.replaceUses(found.result, {found.layer, 0});
}

bool isQatClass(const std::string& name)
{
    return name.find(".qat.") != std::string::npos && name.starts_with("torch.");
}

/// "torch.nn.Conv2d" for "...conv_fused.ConvBnReLU2d".
std::string floatClass(const std::string& qatClass)
{
    const std::string last = qatClass.substr(qatClass.rfind('.') + 1);
    if (last.starts_with("Conv") && last.ends_with("d"))
        return kConv + last.substr(last.size() - 2);
    return last.starts_with("Linear") ? kLinear : "torch.nn." + last;
}

/// Returns a batch norm's class, by the dimensions of the preceding layer.
std::string batchNormClass(const GraphEdit& edit, const Node& norm)
{
    const Node* layer = makerOf(edit, norm.tryArg("input"));
    const std::string_view word = layer ? atenWord(layer->target) : std::string_view();
    const bool image = word.ends_with("d") && word.size() > 1;
    return "torch.nn.BatchNorm" + (image ? std::string(word.substr(word.size() - 2)) : "1d");
}

} // namespace

void restoreBatchNorms(GraphEdit& edit)
{
    for (const NodeId id : edit.order())
        if (const Node* node = edit.tryGet(id); node && node->target == kDivideTarget)
            if (const auto found = scaledLayer(edit, *node))
                restore(edit, *found);
}

void restoreClasses(GraphEdit& edit)
{
    for (const NodeId id : edit.order()) {
        const Node& node = edit.get(id);
        if (isBatchNorm(node.target)) {
            const Node* weight = makerOf(edit, node.tryArg("weight"));
            if (!weight || !weight->isStored())
                continue;
            Scope scope = node.scope;
            scope.path = ModuleTree::parentPath(weight->target);
            scope.moduleClass = batchNormClass(edit, node);
            edit.modules().add(scope.path, scope.moduleClass);
            edit.change(id).scope = std::move(scope);
            continue;
        }
        const std::string& name = node.scope.moduleClass;
        const std::string wanted = isQatClass(name) ? floatClass(name) : name;
        if (wanted != name)
            edit.change(id).scope.moduleClass = wanted;
    }
}

} // namespace qs
