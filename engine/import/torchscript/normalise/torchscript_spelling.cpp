// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/normalise/torchscript_spelling.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

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

std::string scalarTarget(std::string_view target)
{
    static const std::map<std::string, std::string, std::less<>> names {
        {"aten.floordiv.int", "_operator.floordiv"}, {"aten.remainder.int", "_operator.mod"},
        {"aten.div.int", "_operator.truediv"},       {"aten.div.float", "_operator.truediv"},
        {"aten.neg.int", "_operator.neg"},           {"aten.neg.float", "_operator.neg"},
        {"aten.__not__.default", "_operator.not_"},  {"aten.Float.int", "torch.sym_float"},
        {"aten.Float.bool", "torch.sym_float"},      {"aten.Int.float", "torch.sym_int"},
        {"aten.Int.bool", "torch.sym_int"},          {"aten.ceil.float", "math.ceil"},
        {"aten.floor.float", "math.floor"},          {"prim.max.int", "torch.sym_max"},
        {"prim.min.int", "torch.sym_min"},           {"prim.abs.int", "builtins.abs"}};
    if (const auto it = names.find(target); it != names.end())
        return it->second;
    static constexpr std::array<std::string_view, 9> kBoth {"add", "sub", "mul", "eq", "ne",
                                                            "lt",  "le",  "gt",  "ge"};
    static constexpr std::array<std::string_view, 4> kNumbers {"int", "float", "int_float",
                                                               "float_int"};
    for (const std::string_view name : kBoth)
        for (const std::string_view kind : kNumbers)
            if (target == "aten." + std::string(name) + "." + std::string(kind))
                return "_operator." + std::string(name);
    return {};
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
    static const std::set<std::string_view> kinds {"aten::add",
                                                   "aten::sub",
                                                   "aten::mul",
                                                   "aten::div",
                                                   "aten::floordiv",
                                                   "aten::remainder",
                                                   "aten::neg",
                                                   "aten::pow",
                                                   "aten::eq",
                                                   "aten::ne",
                                                   "aten::lt",
                                                   "aten::le",
                                                   "aten::gt",
                                                   "aten::ge",
                                                   "aten::__not__",
                                                   "aten::__and__",
                                                   "aten::__or__",
                                                   "aten::__xor__",
                                                   "aten::__lshift__",
                                                   "aten::__rshift__",
                                                   "aten::Int",
                                                   "aten::Float",
                                                   "aten::Bool",
                                                   "aten::str",
                                                   "aten::len",
                                                   "aten::__contains__",
                                                   "prim::min",
                                                   "prim::max",
                                                   "prim::abs",
                                                   "aten::abs",
                                                   "aten::ceil",
                                                   "aten::floor",
                                                   "aten::round",
                                                   "aten::sqrt",
                                                   "aten::log",
                                                   "aten::exp",
                                                   "aten::log2",
                                                   "aten::format",
                                                   "aten::__getitem__",
                                                   "aten::slice",
                                                   "aten::lower",
                                                   "aten::upper",
                                                   "aten::startswith",
                                                   "aten::endswith",
                                                   "aten::split",
                                                   "aten::strip",
                                                   "aten::replace",
                                                   "aten::join",
                                                   "aten::ord",
                                                   "aten::device",
                                                   "aten::__range_length",
                                                   "aten::__derive_index",
                                                   "aten::sum",
                                                   "aten::sorted",
                                                   "aten::all",
                                                   "aten::any",
                                                   "aten::list",
                                                   "aten::isinf",
                                                   "aten::isnan",
                                                   "aten::isfinite",
                                                   "aten::ScalarImplicit"};
    return kinds.contains(kind);
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
