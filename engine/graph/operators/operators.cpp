// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/operators.h"

#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/rows/operator_rows.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <unordered_map>

namespace qs {

namespace {

constexpr std::string_view kAten = "aten.", kPrim = "prim.";

/// "aten.conv2d" for TorchScript's "aten::conv2d".
std::string dotted(std::string_view name)
{
    std::string target(name);
    if (const auto colons = target.find("::"); colons != std::string::npos)
        target.replace(colons, 2, ".");
    return target;
}

OperatorWeight weightOf(OperatorFamily family, std::string_view weight)
{
    if (weight.empty())
        return OperatorWeight::No;
    return family == OperatorFamily::Convolution          ? OperatorWeight::Convolution
        : family == OperatorFamily::TransposedConvolution ? OperatorWeight::TransposedConvolution
        : family == OperatorFamily::Embedding             ? OperatorWeight::Embedding
                                                          : OperatorWeight::Linear;
}

/// The rows of PyTorch's operators. Immutable, so that lookups need no lock.
class OwnOperators
{
public:
    OwnOperators()
    {
        for (const OperatorRows& family : layerRows())
            add(family);
        for (const OperatorRows& rows : {shapeRows(), valueRows(), scriptRows()})
            add(rows);
    }

    OperatorFactsPtr find(std::string_view target) const
    {
        const std::string_view packet = operatorPacket(target);
        const auto found = m_rows.find(packet);
        if (found == m_rows.end())
            return nullptr;
        if (packet.size() < target.size() && m_split.contains(packet))
            if (const auto own = m_rows.find(target); own != m_rows.end())
                return &own->second;
        return &found->second;
    }

    std::vector<OperatorFactsPtr> all() const
    {
        std::vector<OperatorFactsPtr> rows;
        for (const auto& [target, facts] : m_rows)
            rows.push_back(&facts);
        std::sort(rows.begin(), rows.end(),
                  [](const auto* a, const auto* b) { return a->target < b->target; });
        return rows;
    }

private:
    struct Hash : std::hash<std::string_view>
    {
        using is_transparent = void;
    };

    void add(const OperatorRows& rows)
    {
        for (const OperatorRow& row : rows.rows) {
            OperatorFacts facts;
            facts.target = std::string(row.name.starts_with(kPrim) ? "" : kAten).append(row.name);
            facts.family = rows.family;
            facts.weighted = weightOf(rows.family, row.roles.weight);
            facts.input = row.roles.input;
            facts.weight = row.roles.weight;
            facts.bias = row.roles.bias;
            facts.type = row.type;
            facts.rank = row.rank;
            facts.traits = row.traits;
            facts.movesValues = row.traits.has(OperatorTrait::MovesValues);
            facts.plain = row.plain;
            facts.clamp = row.clamp;
            if (const auto packet = operatorPacket(facts.target); packet != facts.target)
                m_split.emplace(packet);
            const std::string key = facts.target;
            const bool isNew = m_rows.emplace(key, std::move(facts)).second;
            assert(isNew && "an operator has one row");
            (void)isNew;
        }
    }

    std::unordered_map<std::string, OperatorFacts, Hash, std::equal_to<>> m_rows;
    std::set<std::string, std::less<>> m_split; ///< operators with separate rows for some overloads
};

const OwnOperators& own()
{
    static const OwnOperators operators;
    return operators;
}

/// Rows of packs. Replaced rows are not freed: callers may hold pointers to them.
struct PackRows
{
    std::shared_mutex mutex;
    std::map<std::string, OperatorFactsPtr, std::less<>> table;
    std::vector<std::unique_ptr<const OperatorFacts>> rows;
};

PackRows& packRows()
{
    static PackRows rows;
    return rows;
}

} // namespace

OperatorFactsPtr operatorFacts(std::string_view target)
{
    if (target.find("::") != std::string_view::npos)
        return operatorFacts(dotted(target));
    if (OperatorFactsPtr facts = own().find(target))
        return facts;
    if (target.starts_with(kAten))
        return nullptr;
    PackRows& packs = packRows();
    const std::shared_lock lock(packs.mutex);
    const auto found = packs.table.find(operatorPacket(target));
    return found == packs.table.end() ? nullptr : found->second;
}

const OperatorFacts& factsOf(std::string_view target)
{
    static const OperatorFacts nothing;
    const OperatorFactsPtr facts = operatorFacts(target);
    return facts ? *facts : nothing;
}

const OperatorFacts& functionalFactsOf(std::string_view target)
{
    if (const OperatorFactsPtr facts = operatorFacts(target))
        return *facts;
    const std::string_view packet = operatorPacket(target);
    return factsOf(packet.substr(0, packet.size() - (operatorParts(target).isInPlace() ? 1 : 0)));
}

bool hasTrait(std::string_view target, OperatorTrait trait)
{
    return factsOf(target).traits.has(trait);
}

std::string_view atenWord(std::string_view target)
{
    return target.starts_with(kAten) ? operatorParts(target).word : std::string_view();
}

std::vector<OperatorFactsPtr> ownOperators()
{
    return own().all();
}

OperatorFactsPtr packOperator(std::string_view target)
{
    const OperatorFactsPtr facts = target.starts_with(kAten) ? nullptr : operatorFacts(target);
    return facts && !facts->pack.empty() ? facts : nullptr;
}

bool movesValues(std::string_view target)
{
    const bool isWord = target.find('.') == std::string_view::npos;
    return isWord ? factsOf(std::string(kAten).append(target)).movesValues
                  : factsOf(target).movesValues;
}

bool isKernelTarget(std::string_view target)
{
    if (target.starts_with("quantized.") || target.starts_with("aten.quantized_")
        || target.starts_with("onednn.q"))
        return true;
    const OperatorFactsPtr facts = packOperator(target);
    return facts && (facts->isKernel || facts->isPrepack);
}

bool isPrepackTarget(std::string_view target)
{
    if (target.starts_with("quantized.") || target.starts_with("onednn.q"))
        return target.find("_prepack") != std::string_view::npos;
    const OperatorFactsPtr facts = packOperator(target);
    return facts && facts->isPrepack;
}

void addOperators(const std::vector<OperatorFacts>& facts)
{
    PackRows& packs = packRows();
    const std::unique_lock lock(packs.mutex);
    for (const OperatorFacts& one : facts) {
        packs.rows.push_back(std::make_unique<const OperatorFacts>(one));
        packs.table[one.target] = packs.rows.back().get();
    }
}

std::vector<std::string> packOperators()
{
    PackRows& packs = packRows();
    const std::shared_lock lock(packs.mutex);
    std::vector<std::string> targets;
    for (const auto& [target, facts] : packs.table)
        if (!facts->pack.empty())
            targets.push_back(target);
    return targets;
}

std::string operatorTarget(std::string_view written)
{
    constexpr std::string_view kPython = "torch.ops.";
    if (written.starts_with(kPython))
        written.remove_prefix(kPython.size());
    const std::string target = dotted(written);
    if (target.find('.') == std::string::npos || target.find("::") != std::string::npos)
        return {};
    return std::string(operatorPacket(target));
}

} // namespace qs
