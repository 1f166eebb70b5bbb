// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/normalise/torchscript_spelling.h"

#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>

namespace qs {

namespace {

std::size_t listLength(const Node& node, std::string_view name)
{
    const Argument* arg = node.tryArg(name);
    const auto* list = arg ? arg->asList() : nullptr;
    return list ? list->size() : 0;
}

const Argument& taken(const Node& node, std::string_view name)
{
    static const Argument none;
    const Argument* arg = node.tryArg(name);
    return arg ? *arg : none;
}

bool allEqual(const Argument& list, std::int64_t wanted)
{
    const auto* items = list.asList();
    return items && std::all_of(items->begin(), items->end(), [&](const Argument& item) {
               return item.asInt() && *item.asInt() == wanted;
           });
}

bool sameDefault(const Argument& given, const c10::Argument& slot)
{
    if (!slot.default_value())
        return false;
    const Argument usual = constantArgument(*slot.default_value(), slot.real_type());
    if (given == usual)
        return true;
    // An `int[2]=1` may be spelled [1, 1].
    const auto* list = given.asList();
    return list && slot.N() && std::all_of(list->begin(), list->end(), [&](const Argument& item) {
               const auto* one = usual.asList();
               return item == usual || (one && one->size() == 1 && item == one->front());
           });
}

/// The node calls another operator with the same arguments.
void retarget(Node& node, const std::string& target)
{
    node.originalTarget = node.target;
    node.target = target;
    node.name = target.substr(5, target.rfind('.') - 5);
    if (const auto op = findOperator(target))
        dropDefaults(node.args, op->schema());
}

void respellConvolution(Node& node)
{
    const std::size_t rank = listLength(node, "stride");
    const bool* transposed = taken(node, "transposed").asBool();
    if (rank < 1 || rank > 3 || !transposed)
        return;
    const bool back = *transposed;
    if (!back && !allEqual(taken(node, "output_padding"), 0))
        return;
    const std::string word = (back ? "conv_transpose" : "conv") + std::to_string(rank) + "d";
    std::vector<NamedArgument> args;
    for (const char* name : {"input", "weight", "bias", "stride", "padding"})
        args.push_back({name, taken(node, name)});
    const std::vector<const char*> more = back
        ? std::vector {"output_padding", "groups", "dilation"}
        : std::vector {"dilation", "groups"};
    for (const char* name : more)
        args.push_back({name, taken(node, name)});
    node.args = std::move(args);
    retarget(node, "aten." + word + (back && rank > 1 ? ".input" : ".default"));
}

void respellConvolutionMode(Node& node)
{
    const std::size_t rank = listLength(node, "stride");
    if (rank >= 1 && rank <= 3)
        retarget(node, "aten.conv" + std::to_string(rank) + "d.padding");
}

} // namespace

std::string targetOf(const c10::OperatorName& name)
{
    std::string target = name.name;
    if (const auto colons = target.find("::"); colons != std::string::npos)
        target.replace(colons, 2, ".");
    return target + "." + (name.overload_name.empty() ? "default" : name.overload_name);
}

std::string functionalWord(std::string_view name)
{
    return std::string(name.starts_with('_') ? name.substr(1) : name);
}

void respellNode(Node& node)
{
    if (node.target == "aten._convolution.default" || node.target == "aten._convolution.deprecated")
        respellConvolution(node);
    else if (node.target == "aten._convolution_mode.default")
        respellConvolutionMode(node);
}

bool isFoldable(std::string_view kind)
{
    return hasTrait(kind, OperatorTrait::Folds);
}

void dropDefaults(std::vector<NamedArgument>& args, const c10::FunctionSchema& schema)
{
    while (!args.empty() && args.size() <= schema.arguments().size()
           && sameDefault(args.back().value, schema.arguments()[args.size() - 1]))
        args.pop_back();
}

} // namespace qs
