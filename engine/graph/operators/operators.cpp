// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace qs {

namespace {

using Table = std::map<std::string, OperatorFactsPtr, std::less<>>;
using Weighted = OperatorFacts::Weighted;

/// Targets without namespace and overload of ATen's operators that compute nothing.
constexpr std::array<std::string_view, 20> kMoving {
    "view",    "_unsafe_view", "reshape",    "flatten", "permute", "transpose", "t",
    "squeeze", "unsqueeze",    "contiguous", "narrow",  "slice",   "select",    "expand",
    "repeat",  "clone",        "_to_copy",   "alias",   "detach",  "as_strided"};

Table ownOperators()
{
    Table table;
    const auto weighted = [&table](const char* target, Weighted kind, const char* input,
                                   const char* weight, const char* bias) {
        OperatorFacts facts;
        facts.target = target;
        facts.weighted = kind;
        facts.input = input;
        facts.weight = weight;
        facts.bias = bias;
        table[target] = std::make_shared<const OperatorFacts>(std::move(facts));
    };
    for (const char* target :
         {"aten.conv1d", "aten.conv2d", "aten.conv3d", "aten.convolution", "aten._convolution"})
        weighted(target, Weighted::Convolution, "input", "weight", "bias");
    for (const char* target :
         {"aten.conv_transpose1d", "aten.conv_transpose2d", "aten.conv_transpose3d"})
        weighted(target, Weighted::TransposedConvolution, "input", "weight", "bias");
    weighted("aten.linear", Weighted::Linear, "input", "weight", "bias");
    weighted("aten.addmm", Weighted::Linear, "mat1", "mat2", "self");
    weighted("aten.mm", Weighted::Linear, "self", "mat2", "");
    weighted("aten.embedding", Weighted::Embedding, "indices", "weight", "");
    weighted("aten.embedding_bag", Weighted::Embedding, "indices", "weight", "");
    for (const std::string_view word : kMoving) {
        OperatorFacts facts;
        facts.target = "aten." + std::string(word);
        facts.movesValues = true;
        table["aten." + std::string(word)] = std::make_shared<const OperatorFacts>(facts);
    }
    return table;
}

struct Registry
{
    std::shared_mutex mutex;
    Table table = ownOperators();
};

Registry& registry()
{
    static Registry registry;
    return registry;
}

/// "aten.conv2d" for "aten.conv2d.default".
std::string_view withoutOverload(std::string_view target)
{
    const auto space = target.find('.');
    return space == std::string_view::npos ? target : target.substr(0, target.find('.', space + 1));
}

} // namespace

OperatorFactsPtr operatorFacts(std::string_view target)
{
    Registry& known = registry();
    const std::shared_lock lock(known.mutex);
    const auto found = known.table.find(withoutOverload(target));
    return found == known.table.end() ? nullptr : found->second;
}

OperatorFactsPtr packOperator(std::string_view target)
{
    if (target.starts_with("aten."))
        return nullptr;
    OperatorFactsPtr facts = operatorFacts(target);
    return facts && !facts->pack.empty() ? facts : nullptr;
}

bool movesValues(std::string_view target)
{
    if (target.find('.') == std::string_view::npos)
        return std::find(kMoving.begin(), kMoving.end(), target) != kMoving.end();
    const OperatorFactsPtr facts = operatorFacts(target);
    return facts && facts->movesValues;
}

bool isKernelTarget(std::string_view target)
{
    if (target.starts_with("quantized."))
        return true;
    const OperatorFactsPtr facts = packOperator(target);
    return facts && (facts->isKernel || facts->isPrepack);
}

bool isPrepackTarget(std::string_view target)
{
    if (target.starts_with("quantized."))
        return target.find("_prepack") != std::string_view::npos;
    const OperatorFactsPtr facts = packOperator(target);
    return facts && facts->isPrepack;
}

void addOperators(const std::vector<OperatorFacts>& facts)
{
    Registry& known = registry();
    const std::unique_lock lock(known.mutex);
    for (const OperatorFacts& one : facts)
        known.table[one.target] = std::make_shared<const OperatorFacts>(one);
}

std::vector<std::string> packOperators()
{
    Registry& known = registry();
    const std::shared_lock lock(known.mutex);
    std::vector<std::string> targets;
    for (const auto& [target, facts] : known.table)
        if (!facts->pack.empty())
            targets.push_back(target);
    return targets;
}

std::string operatorTarget(std::string_view written)
{
    constexpr std::string_view kPython = "torch.ops.";
    if (written.starts_with(kPython))
        written.remove_prefix(kPython.size());
    std::string target(written);
    if (const auto colons = target.find("::"); colons != std::string::npos)
        target.replace(colons, 2, ".");
    if (target.find('.') == std::string::npos || target.find("::") != std::string::npos)
        return {};
    return std::string(withoutOverload(target));
}

} // namespace qs
