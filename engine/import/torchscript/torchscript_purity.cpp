// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/torchscript_purity.h"

#include "engine/execute/classes/class_methods.h"
#include "engine/graph/operators/operators.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace qs {

namespace {

/// Looks through a method and everything it calls.
class PurityCheck
{
public:
    /// The first operator that is not pure; "" for none.
    std::string check(torch::jit::Function& function)
    {
        if (!function.isGraphFunction())
            return function.qualname().qualifiedName();
        if (!m_seen.insert(&function).second)
            return {};
        return checkBlock(*torch::jit::toGraphFunction(function).graph()->block());
    }

private:
    static bool isPure(std::string_view kind)
    {
        if (hasTrait(kind, OperatorTrait::Restores))
            return true;
        return kind.starts_with("quantized::")
            && (kind.find("prepack") != std::string_view::npos
                || kind.find("make_quantized_cell_params") != std::string_view::npos);
    }

    std::string checkBlock(const torch::jit::Block& block)
    {
        for (const torch::jit::Node* node : block.nodes()) {
            if (std::string bad = checkNode(*node); !bad.empty())
                return bad;
            for (const torch::jit::Block* inner : node->blocks())
                if (std::string bad = checkBlock(*inner); !bad.empty())
                    return bad;
        }
        return {};
    }

    std::string checkNode(const torch::jit::Node& node)
    {
        const std::string kind = node.kind().toQualString();
        if (node.kind() == c10::prim::CallMethod) {
            const auto type = node.input(0)->type()->cast<c10::ClassType>();
            auto* method = type ? type->findMethod(node.s(c10::attr::name)) : nullptr;
            return method ? check(*method) : kind;
        }
        if (node.kind() == c10::prim::CallFunction) {
            const auto type = node.input(0)->type()->cast<c10::FunctionType>();
            return type ? check(*type->function()) : kind;
        }
        return isPure(kind) ? std::string() : kind;
    }

    std::unordered_set<const torch::jit::Function*> m_seen;
};

} // namespace

bool isPackedWeightsClass(const std::string& qualifiedName)
{
    static constexpr std::array<std::string_view, 5> kFamilies {
        "__torch__.torch.classes.quantized.", "__torch__.torch.classes.rnn.",
        "__torch__.torch.classes.sparse.", "__torch__.torch.classes.xnnpack.",
        "__torch__.torch.classes.mkldnn."};
    if (std::any_of(kFamilies.begin(), kFamilies.end(),
                    [&](std::string_view family) { return qualifiedName.starts_with(family); }))
        return true;
    // Of an extension pack: its code runs in this program because the user said so.
    return bool(findForeignClass(qualifiedName));
}

std::string firstImpureOperator(const c10::ClassType& type)
{
    if (type.name() && isPackedWeightsClass(type.name()->qualifiedName()))
        return {};
    return PurityCheck().check(type.getMethod("__setstate__"));
}

std::string objectionToSource(const std::string& text)
{
    constexpr int kDeepest = 400;
    int open = 0, deepest = 0;
    std::size_t indent = 0, widest = 0;
    bool atStart = true;
    for (const char c : text) {
        if (c == '\n') {
            atStart = true;
            indent = 0;
        } else if (atStart && c == ' ') {
            widest = std::max(widest, ++indent);
        } else {
            atStart = false;
            open += c == '(' || c == '[' || c == '{';
            open -= c == ')' || c == ']' || c == '}';
            deepest = std::max(deepest, open);
        }
    }
    // A run of operators makes a tree as deep as the run is long.
    constexpr std::size_t kLongestRun = 20000;
    std::size_t run = 0, longest = 0;
    for (const char c : text) {
        const bool op = c == '-' || c == '+' || c == '*' || c == '/' || c == '~';
        run = c == '\n' ? 0 : run + (op ? 1 : 0);
        longest = std::max(longest, run);
    }
    if (deepest > kDeepest || widest > 2 * std::size_t(kDeepest) || longest > kLongestRun)
        return "its code is nested too deeply";
    return {};
}

} // namespace qs
