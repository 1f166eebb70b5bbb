// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_purity.h"

#include "engine/execute/classes/class_methods.h"
#include "engine/graph/operators/operators.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <array>
#include <vector>

namespace qs {

namespace {

bool isPure(std::string_view kind)
{
    return hasTrait(kind, OperatorTrait::Restores)
        || (kind.starts_with("quantized::")
            && (kind.find("prepack") != std::string_view::npos
                || kind.find("make_quantized_cell_params") != std::string_view::npos));
}

/// Of a C++ class of LibTorch that only packs weights, or of one of a loaded pack, whose code runs
/// in this program because the user said so.
bool isPackedWeightsClass(const std::string& qualifiedName)
{
    static constexpr std::array<std::string_view, 5> kFamilies {
        "__torch__.torch.classes.quantized.", "__torch__.torch.classes.rnn.",
        "__torch__.torch.classes.sparse.", "__torch__.torch.classes.xnnpack.",
        "__torch__.torch.classes.mkldnn."};
    if (std::any_of(kFamilies.begin(), kFamilies.end(),
                    [&](std::string_view family) { return qualifiedName.starts_with(family); }))
        return true;
    return bool(findForeignClass(qualifiedName));
}

} // namespace

std::string firstImpureOperator(const c10::ClassType& type)
{
    if (type.name() && isPackedWeightsClass(type.name()->qualifiedName()))
        return {};
    std::vector<const torch::jit::Block*> blocks;
    std::string impure;
    const auto follow = [&](torch::jit::Function* function) {
        if (!function || !function->isGraphFunction()) {
            impure = function ? function->qualname().qualifiedName() : "an unknown function";
            return;
        }
        const auto* body = torch::jit::toGraphFunction(*function).graph()->block();
        if (std::find(blocks.begin(), blocks.end(), body) == blocks.end())
            blocks.push_back(body);
    };
    follow(&type.getMethod("__setstate__"));
    for (std::size_t i = 0; i < blocks.size() && impure.empty(); ++i)
        for (const torch::jit::Node* node : blocks[i]->nodes()) {
            const auto kind = node->kind();
            if (kind == c10::prim::CallMethod) {
                const auto owner = node->input(0)->type()->cast<c10::ClassType>();
                follow(owner ? owner->findMethod(node->s(c10::attr::name)) : nullptr);
            } else if (kind == c10::prim::CallFunction) {
                const auto called = node->input(0)->type()->cast<c10::FunctionType>();
                follow(called ? called->function() : nullptr);
            } else if (!isPure(kind.toQualString())) {
                impure = kind.toQualString();
            }
            if (!impure.empty())
                break;
            blocks.insert(blocks.end(), node->blocks().begin(), node->blocks().end());
        }
    return impure;
}

std::string objectionToSource(const std::string& text)
{
    constexpr int kDeepest = 400;
    // A run of operators makes a tree as deep as the run is long.
    constexpr int kLongestRun = 20000;
    int open = 0, indent = 0, run = 0, deepest = 0, widest = 0, longest = 0;
    bool atStart = true;
    for (const char c : text) {
        const auto isOf
            = [c](std::string_view set) { return set.find(c) != std::string_view::npos; };
        const bool ends = c == '\n';
        atStart = ends || (atStart && c == ' ');
        indent = ends ? 0 : indent + (atStart ? 1 : 0);
        run = ends ? 0 : run + (isOf("-+*/~") ? 1 : 0);
        open += (isOf("([{") ? 1 : 0) - (isOf(")]}") ? 1 : 0);
        deepest = std::max(deepest, open);
        widest = std::max(widest, indent);
        longest = std::max(longest, run);
    }
    if (deepest > kDeepest || widest > 2 * kDeepest || longest > kLongestRun)
        return "its code is nested too deeply";
    return {};
}

} // namespace qs
