// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/op_vocabulary.h"

#include "engine/base/text.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/operators.h"
#include "engine/plan/names/taken_apart.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

std::string baseOf(std::string_view target)
{
    return std::string(operatorParts(target).base());
}

/// Whether a node is only part of a recorded call: after an in-place addition to a slice, the nodes
/// that write the slice back to its tensor belong to that call but are not additions.
bool isOnlyPartOf(const std::string& name, const std::string& base)
{
    return (name == "operator.add" || name == "operator.mul") && !isMainOp(lastPart(name), base);
}

std::string functionName(const std::string& word)
{
    return (isFunctionalBuiltin(word) || isFunctionalByDefault(word) ? "torch.nn.functional."
                                                                     : "torch.")
        + word;
}

/// The name from the `torch_fn` record, "function.relu": kind and name of the callable.
OpName nameFromRecord(const std::string& record, const std::string& base)
{
    const auto dot = record.find('.');
    const std::string kind = record.substr(0, dot);
    const std::string word = baseOf(record.substr(dot + 1));
    OpName out;
    out.base = base;
    out.kind = OpName::Kind::Function;
    const std::string plain = word.starts_with("__") ? word.substr(2, word.size() - 4) : word;
    if (kind == "method_descriptor" || kind == "wrapper_descriptor" || word.starts_with("__")) {
        out.name = pythonOperator(word);
        if (out.name.empty() || isOnlyPartOf(out.name, base)) {
            out.kind = isMainOp(plain, base) ? OpName::Kind::Method : OpName::Kind::Inside;
            out.name = word;
        }
        return out;
    }
    // A built-in of torch is torch.relu even where torch.nn.functional has a relu too.
    const bool builtin = kind.starts_with("builtin");
    out.name = (builtin && !isFunctionalBuiltin(word) ? "torch." : "torch.nn.functional.") + word;
    if (!isMainOp(plain, base))
        out.kind = OpName::Kind::Inside;
    return out;
}

/// Number of spatial dimensions by a convolution's arguments, else by its result; 0 if unknown.
std::size_t convolutionRank(const Node& node)
{
    for (const char* key : {"stride", "padding", "dilation"})
        if (const Argument* arg = node.tryArg(key))
            if (const auto* list = arg->asList())
                if (list->size() > 1)
                    return list->size();
    return node.outputs.empty() || node.outputs[0].type.shape.size() < 3
        ? 0
        : node.outputs[0].type.shape.size() - 2;
}

OpName nameFromTarget(const Node& node, const std::string& base)
{
    OpName out;
    out.base = base;
    out.kind = OpName::Kind::Function;
    std::string word;
    if (isAnyRankConvolution(node.target)) {
        const Argument* transposed = node.tryArg("transposed");
        const bool back = transposed && transposed->asBool() && *transposed->asBool();
        const std::size_t rank = convolutionRank(node);
        word = (back ? "conv_transpose" : "conv") + std::to_string(rank ? rank : 2) + "d";
    } else if (base.starts_with("upsample") || base.starts_with("_upsample")) {
        word = "interpolate";
    } else {
        word = plainSpelling(base);
    }
    const std::string written = pythonOperator(word);
    const std::string method = written.empty() ? word : written;
    if (!written.empty() && word != "matmul" && word != "pow") {
        out.name = written;
    } else if (isMethodByDefault(word)) {
        out.kind = OpName::Kind::Method;
        out.name = word;
    } else {
        out.name = functionName(word);
    }
    for (const std::string& other :
         {functionName(word), canonicalTypeName("torch." + word), method})
        if (other != out.name
            && std::find(out.others.begin(), out.others.end(), other) == out.others.end())
            out.others.push_back(other);
    return out;
}

/// The name of an operator of an extension pack, independent of the module around it.
OpName nameOfPack(const OperatorFacts& facts, const std::string& base)
{
    return {OpName::Kind::Function, "torch.ops." + facts.target, base};
}

/// The name of an operator in a region, from its target. An operator that only moves elements may
/// be part of a call, as the views of a product are.
OpName nameInRegion(const Node& node, const std::string& base)
{
    OpName out = nameFromTarget(node, base);
    if (functionalFactsOf(node.target).traits.has(OperatorTrait::PartOfCalls))
        out.kind = OpName::Kind::Inside;
    return out;
}

/// For a layer with a parametrization: the name of its original class, as in torch.ao. Empty for
/// recurrent layers, whose weights are in one list, and for user-defined classes.
std::optional<OpName> nameOfParametrized(const Node& node, const std::string& base)
{
    const std::string_view word = classBeforeParametrization(node.scope.moduleClass);
    if (word.empty() || factsOf(node.target).family == OperatorFamily::Recurrent
        || !isMainOp(word, base))
        return std::nullopt;
    return OpName {OpName::Kind::Module, "torch.nn." + std::string(word), base, {}};
}

} // namespace

OpName opNameOf(const Node& node)
{
    if (!node.isOperator())
        return {};
    const std::string base = baseOf(node.target);
    const std::string& owner = node.scope.moduleClass;
    if (node.kind == NodeKind::ModuleCall)
        return {OpName::Kind::Module, canonicalTypeName(owner.empty() ? node.target : owner), base};
    if (const OperatorFactsPtr facts = packOperator(node.target))
        return nameOfPack(*facts, base);
    if (const auto parametrized = nameOfParametrized(node, base))
        return *parametrized;
    if (owner.starts_with("torch.nn.") || owner.starts_with("torch.ao.nn.")) {
        const std::string word = lastPart(owner);
        const bool container = word == "Sequential" || word == "ModuleList" || word == "ModuleDict";
        if (!container)
            return {isMainOp(word, base) ? OpName::Kind::Module : OpName::Kind::Inside,
                    canonicalTypeName(owner), base};
    }
    if (isOfRegion(node))
        return nameInRegion(node, base);
    if (node.torchFn.find('.') != std::string::npos)
        return nameFromRecord(node.torchFn, base);
    return nameFromTarget(node, base);
}

bool isOfRegion(const Node& node)
{
    return node.torchFn.starts_with("WrapWith");
}

OpName ownNameOf(const Node& node)
{
    const std::string base = baseOf(node.target);
    if (const OperatorFactsPtr facts = packOperator(node.target))
        return nameOfPack(*facts, base);
    OpName out = node.torchFn.find('.') != std::string::npos ? nameFromRecord(node.torchFn, base)
                                                             : OpName {};
    // The record may be of the composite function around it.
    const bool isOwn = out.kind == OpName::Kind::Function || out.kind == OpName::Kind::Method;
    return isOwn ? out : nameFromTarget(node, base);
}

ArgumentRole argumentRole(const Node& node, const OpName& name, std::size_t argument)
{
    const std::string& word = node.args.at(argument).name;
    if (const OperatorFactsPtr facts = packOperator(node.target)) {
        const auto& carried = facts->carried;
        return word == facts->weight ? ArgumentRole::Weight
            : word == facts->bias    ? ArgumentRole::Bias
            : std::find(carried.begin(), carried.end(), word) != carried.end()
            ? ArgumentRole::State
            : ArgumentRole::Activation;
    }
    const OperatorFacts& facts = factsOf(node.target);
    if (facts.family == OperatorFamily::Product
        && (name.isModule() || name.name.ends_with(".linear")))
        return word == facts.weight ? ArgumentRole::Weight
            : word == facts.bias    ? ArgumentRole::Bias
                                    : ArgumentRole::Activation;
    if (word == "weight" || word == "w_ih" || word == "w_hh")
        return ArgumentRole::Weight;
    if (word == "bias" || word == "b_ih" || word == "b_hh")
        return ArgumentRole::Bias;
    static const std::set<std::string_view> states {"running_mean", "running_var", "params",
                                                    "batch_sizes"};
    return states.count(word) ? ArgumentRole::State : ArgumentRole::Activation;
}

std::string canonicalTypeName(std::string_view name)
{
    const auto starts = [&name](std::string_view prefix) {
        if (!name.starts_with(prefix))
            return false;
        name.remove_prefix(prefix.size());
        return true;
    };
    if (starts("torch.nn.modules."))
        return "torch.nn." + lastPart(name);
    if (starts("torch.ao.nn.intrinsic.modules."))
        return "torch.ao.nn.intrinsic." + lastPart(name);
    if (starts("torch.nn.intrinsic."))
        return "torch.ao.nn.intrinsic." + lastPart(name);
    if (starts("torch.Tensor.") || starts("Tensor."))
        return baseOf(name);
    if (starts("_operator."))
        return "operator." + std::string(name);
    if (name.starts_with("torch.ops.") || name.find("::") != std::string_view::npos)
        if (const std::string target = operatorTarget(name); !target.empty())
            return target.starts_with("aten.") ? canonicalTypeName(target.substr(5))
                                               : "torch.ops." + target;
    if (name.find('.') == std::string_view::npos)
        return baseOf(name);
    const std::string word = baseOf(lastPart(name));
    if (name == "torch." + lastPart(name))
        return (isFunctionalBuiltin(word) ? "torch.nn.functional." : "torch.") + word;
    if (name.starts_with("torch.nn.functional."))
        return "torch.nn.functional." + word;
    return std::string(name);
}

} // namespace qs
