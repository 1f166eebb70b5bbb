// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/normalise/torchscript_spelling.h"

#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

std::size_t listLength(const Node& node, std::string_view name)
{
    const Argument* arg = node.tryArg(name);
    const auto* list = arg ? arg->asList() : nullptr;
    return list ? list->size() : 0;
}

Argument taken(const Node& node, std::string_view name)
{
    const Argument* arg = node.tryArg(name);
    return arg ? *arg : Argument();
}

bool allEqual(const Argument& list, std::int64_t wanted)
{
    const auto* items = list.asList();
    return items && std::all_of(items->begin(), items->end(), [&](const Argument& item) {
               return item.asInt() && *item.asInt() == wanted;
           });
}

/// Leaves out what equals the operator's default, from the end.
void dropDefaults(std::vector<NamedArgument>& args, const std::vector<Argument>& defaults)
{
    while (!args.empty()) {
        const std::size_t at = args.size() - 1;
        if (at >= defaults.size() || defaults[at].isNone())
            break;
        const Argument& usual = defaults[at];
        const bool same = args[at].value == usual
            || (usual.asInt() && allEqual(args[at].value, *usual.asInt()));
        if (!same)
            break;
        args.pop_back();
    }
}

void respellConvolution(Node& node)
{
    const std::size_t rank = listLength(node, "stride");
    const Argument transposed = taken(node, "transposed");
    if (rank < 1 || rank > 3 || !transposed.asBool())
        return;
    const std::string suffix = std::to_string(rank) + "d";
    std::vector<NamedArgument> args;
    const auto give = [&](const char* name) { args.push_back({name, taken(node, name)}); };
    for (const char* name : {"input", "weight", "bias", "stride", "padding"})
        give(name);
    const bool back = *transposed.asBool();
    if (!back && !allEqual(taken(node, "output_padding"), 0))
        return;
    const Argument none;
    node.originalTarget = node.target;
    if (back) {
        for (const char* name : {"output_padding", "groups", "dilation"})
            give(name);
        node.target = "aten.conv_transpose" + suffix + (rank == 1 ? ".default" : ".input");
        dropDefaults(args, {none, none, none, 1, 0, 0, 1, 1});
    } else {
        for (const char* name : {"dilation", "groups"})
            give(name);
        node.target = "aten.conv" + suffix + ".default";
        dropDefaults(args, {none, none, none, 1, 0, 1, 1});
    }
    node.args = std::move(args);
    if (node.args.size() == 3 && node.args.back().value.isNone())
        node.args.pop_back();
    node.name = node.target.substr(5, node.target.rfind('.') - 5);
}

void respellConvolutionMode(Node& node)
{
    const std::size_t rank = listLength(node, "stride");
    if (rank < 1 || rank > 3)
        return;
    node.originalTarget = node.target;
    node.target = "aten.conv" + std::to_string(rank) + "d.padding";
    node.name = "conv" + std::to_string(rank) + "d";
    dropDefaults(node.args, {{}, {}, {}, 1, {}, 1, 1});
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

std::string layoutName(std::int64_t number)
{
    static constexpr std::array<const char*, 7> kNames {
        "strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc"};
    return number >= 0 && number < std::int64_t(kNames.size()) ? kNames[std::size_t(number)] : "";
}

std::string memoryFormatName(std::int64_t number)
{
    static constexpr std::array<const char*, 4> kNames {"contiguous_format", "preserve_format",
                                                        "channels_last", "channels_last_3d"};
    return number >= 0 && number < std::int64_t(kNames.size()) ? kNames[std::size_t(number)] : "";
}

} // namespace qs
