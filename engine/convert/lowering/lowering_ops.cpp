// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/lowering_ops.h"

#include "engine/base/json/nearest_name.h"
#include "engine/configure/backend/lowering_table.h"
#include "engine/configure/extension_packs.h"
#include "engine/convert/lowering/emit/prepack.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/argument_number.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/operators.h"
#include "engine/prepare/weighted_op.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <optional>

namespace qs {

namespace {

/// Whether only the first output is read. Other fields of an object count as part of the first.
bool onlyFirstOutputRead(const GraphEdit& edit, const Node& node)
{
    for (std::uint32_t i = 1; i < node.outputs.size(); ++i)
        if (node.outputs[i].type.kind != ValueKind::Custom && !edit.users({node.id, i}).empty())
            return false;
    return true;
}

std::size_t rankOf(const GraphEdit& edit, ValueRef ref)
{
    if (!ref)
        return 0;
    const ValueType& type = edit.get(ref.node).outputs.at(ref.index).type;
    return type.shapeKnown ? type.shape.size() : 0;
}

std::string convolutionKind(const Node& node)
{
    Argument transposed, stride;
    effectiveArgument(node, "transposed", transposed);
    effectiveArgument(node, "stride", stride);
    const std::size_t dims = stride.asList() ? stride.asList()->size() : 0;
    if (dims < 1 || dims > 3)
        return "";
    const bool isTransposed = transposed.asBool() && *transposed.asBool();
    return (isTransposed ? "conv_transpose" : "conv") + std::to_string(dims) + "d";
}

std::string batchNormKind(const GraphEdit& edit, const Node& node)
{
    Argument training;
    effectiveArgument(node, "training", training);
    const std::size_t rank = rankOf(edit, argumentRef(node, "input"));
    if ((training.asBool() && *training.asBool()) || rank < 2)
        return "";
    return rank == 5 ? "batch_norm3d" : rank == 4 ? "batch_norm2d" : "batch_norm1d";
}

bool isPlainNumber(const Node& node, std::string_view name, double wanted)
{
    Argument value;
    if (!effectiveArgument(node, name, value))
        return true;
    return numberOf(&value) == wanted;
}

/// The kind of a binary operator. add and mul with a number have another kind than with two
/// tensors, since their kernels choose the result's parameters themselves.
std::string binaryKind(const Node& node, const std::string& name)
{
    if (!isPlainNumber(node, "alpha", 1))
        return "";
    const bool tensors = argumentRef(node, "self") && argumentRef(node, "other");
    return tensors ? name : name + "_scalar";
}

/// All operators of a namespace with their overloads, as rows name kernels.
std::vector<std::string> operatorNames(const std::string& space)
{
    std::vector<std::string> names;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames())
        if (name.name.starts_with(space + "::"))
            names.push_back(name.name
                            + (name.overload_name.empty() ? "" : "." + name.overload_name));
    return names;
}

/// Candidates for a misspelled kernel name: kernels of LibTorch, of the given namespace, of packs.
std::vector<std::string> kernelNames(const std::string& given)
{
    std::vector<std::string> names = operatorNames("quantized");
    const auto add = [&names](const std::string& space) {
        const auto more = operatorNames(space);
        names.insert(names.end(), more.begin(), more.end());
    };
    const std::string space = given.substr(0, given.find("::"));
    if (space == "aten")
        return operatorNames(space);
    if (space != "quantized")
        add(space);
    for (const KernelRow& row : defaultKernelRows())
        if (!row.pack.empty())
            names.push_back(row.kernel);
    return names;
}

std::string nearestOr(const std::string& word, const std::vector<std::string>& names,
                      const std::string& otherwise)
{
    const std::string near = nearestName(word, names);
    return near.empty() ? otherwise : "did you mean '" + near + "'?";
}

} // namespace

std::string operatorKind(const GraphEdit& edit, const Node& node)
{
    if (node.kind != NodeKind::Op || !node.opaqueReason.empty() || node.outputs.empty())
        return "";
    if (const OperatorFactsPtr facts = packOperator(node.target))
        return onlyFirstOutputRead(edit, node) ? facts->target : "";
    const OperatorParts parts = operatorParts(node.target);
    if (parts.space != "aten")
        return "";
    std::string kind = kernelKind(node.target);
    // Recurrent networks: all results are the operator's own; the overloads take other arguments.
    if (kind == "lstm" || kind == "gru")
        return kind + "." + std::string(parts.overload);
    if (kind.ends_with("_cell"))
        return kind;
    Argument train;
    effectiveArgument(node, "train", train);
    if (!onlyFirstOutputRead(edit, node) || (train.asBool() && *train.asBool()))
        return "";
    if (isAnyRankConvolution(node.target))
        return convolutionKind(node);
    if (isBatchNorm(node.target))
        return batchNormKind(edit, node);
    if (argumentRef(node, "running_mean") || argumentRef(node, "running_var"))
        return ""; // stored statistics
    if (const auto op = weightedOp(node); op && op->kind == WeightedOp::Kind::Linear) {
        if (op->bias.empty() && !weightPath(edit, argumentRef(node, op->weight)).layout.empty())
            return std::string(atenWord(kLinearTarget));
        if (!isPlainNumber(node, "alpha", 1) || !isPlainNumber(node, "beta", 1))
            return "";
    }
    return kind == "add" || kind == "mul" ? binaryKind(node, kind) : kind;
}

bool choosesParams(std::string_view target)
{
    return target.starts_with("quantized.") && target.ends_with(".Scalar");
}

bool isFloatResultKernel(std::string_view target)
{
    return target.starts_with("onednn.q") && !isPrepackTarget(target);
}

Result<Argument::List> convolutionList(const Node& node, const ValueType& weight,
                                       std::string_view name, std::size_t dimensions)
{
    Argument value;
    if (!effectiveArgument(node, name, value))
        return Argument::List(dimensions, Argument(0));
    if (const std::string* word = value.asString()) {
        if (*word == "valid")
            return Argument::List(dimensions, Argument(0));
        QS_TRY(const Argument::List dilation,
               convolutionList(node, weight, "dilation", dimensions));
        Argument::List padding;
        for (std::size_t i = 0; i < dimensions; ++i) {
            if (!weight.shapeKnown || weight.shape.size() != dimensions + 2)
                return fail(ErrorCode::Unsupported, "the weight's shape is unknown");
            const std::int64_t total = *dilation[i].asInt() * (weight.shape[i + 2].size - 1);
            if (total % 2 != 0)
                return fail(ErrorCode::Unsupported, "its \"same\" padding differs between sides");
            padding.emplace_back(total / 2);
        }
        return padding;
    }
    Argument::List list;
    if (value.asList())
        list = *value.asList();
    else
        list.push_back(value);
    if (list.size() == 1)
        list.resize(dimensions, list.front());
    const bool numbers = std::all_of(list.begin(), list.end(),
                                     [](const Argument& item) { return item.asInt() != nullptr; });
    if (!numbers || list.size() != dimensions)
        return fail(ErrorCode::Unsupported, "its " + std::string(name) + " is not fixed");
    return list;
}

Result<void> checkOperatorKinds(const std::vector<std::string>& kinds)
{
    std::vector<std::string> known {"batch_norm1d"}; // kinds that are not an operator's name
    for (const KernelRow& row : defaultKernelRows())
        known.insert(known.end(), row.pattern.begin(), row.pattern.end());
    for (const std::string& name : operatorNames("aten"))
        known.push_back(name.substr(6, name.find('.') - 6));
    for (const std::string& kind : kinds) {
        if (std::find(known.begin(), known.end(), kind) == known.end()
            && !findKernel(qualifiedName(kind)))
            return fail(makeError(ErrorCode::BadInput, "LibTorch has no operator '" + kind + "'")
                            .withHint(nearestOr(kind, known,
                                                "name a function or module that is one operator")));
    }
    return {};
}

Result<std::string> kernelTarget(const std::string& kernel)
{
    if (kernel == kSameKernel || kernel == kNoKernel)
        return kernel;
    const auto handle = findKernel(kernel);
    if (!handle)
        return fail(makeError(ErrorCode::BadInput, "LibTorch has no operator " + kernel)
                        .withHint(nearestOr(kernel, kernelNames(kernel),
                                            "name one of the quantized:: operators")));
    return targetOf(handle->operator_name());
}

} // namespace qs
