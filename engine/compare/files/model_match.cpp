// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/files/model_match.h"

#include "engine/base/common_sequence.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace qs {

namespace {

/// One operation of a node; a fused node has several.
struct Part
{
    std::string kind, module;
    NodeId node;
    bool last = true; ///< the node's last part, whose value is the node's
};

bool isStep(const Node& node)
{
    static constexpr std::string_view kSteps[] = {"quantscope.", "_operator.", "math.", "prim."};
    return isReferenceStep(node.target) || isTensorQuantize(node.target)
        || isTensorDequantize(node.target)
        || std::any_of(std::begin(kSteps), std::end(kSteps),
                       [&](std::string_view prefix) { return node.target.starts_with(prefix); });
}

/// Kinds of operations of a node: conv and relu for "conv2d_relu". All variants of convolutions,
/// and all of linear layers, have one kind.
std::vector<std::string> kindsOf(const Node& node)
{
    std::string base(operatorParts(node.target).base());
    if (base.starts_with("quantized_"))
        base.erase(0, std::string_view("quantized_").size());
    std::vector<std::string> kinds;
    static constexpr std::string_view kTails[] = {"_leaky_relu", "_relu", "_tanh", "_add"};
    for (const std::string_view tail : kTails)
        if (node.target.starts_with("quantized.") && base.ends_with(tail) && base != "leaky_relu") {
            base.resize(base.size() - tail.size());
            kinds.insert(kinds.begin(), std::string(tail.substr(1)));
        }
    kinds.insert(kinds.begin(), workOf(base));
    return kinds;
}

std::vector<Part> partsOf(const Graph& graph)
{
    std::vector<Part> parts;
    for (const NodePtr& node : graph.nodes()) {
        const bool works = node->kind == NodeKind::Op && !isStep(*node) && !node->outputs.empty()
            && node->outputs[0].type.kind == ValueKind::Tensor;
        if (!works)
            continue;
        const auto kinds = kindsOf(*node);
        for (std::size_t i = 0; i < kinds.size(); ++i)
            parts.push_back({kinds[i], node->scope.path, node->id, i + 1 == kinds.size()});
    }
    return parts;
}

/// Longest common subsequence, by kind, of the listed parts: pairs of indices into `a` and `b`.
PlacePairs commonParts(const std::vector<Part>& a, const std::vector<std::size_t>& inA,
                       const std::vector<Part>& b, const std::vector<std::size_t>& inB,
                       const JobContext& job)
{
    PlacePairs pairs = commonSequence(
        inA.size(), inB.size(),
        [&](std::size_t i, std::size_t j) { return a[inA[i]].kind == b[inB[j]].kind; },
        [&] { return !job.cancelled(); });
    for (auto& [i, j] : pairs) {
        i = inA[i];
        j = inB[j];
    }
    return pairs;
}

class Matcher
{
public:
    Matcher(const Graph& floating, const Graph& converted, const JobContext& job)
        : m_float(floating)
        , m_converted(converted)
        , m_job(job)
        , m_a(partsOf(floating))
        , m_b(partsOf(converted))
        , m_takenA(m_a.size())
        , m_takenB(m_b.size())
    {
    }

    Result<ModelMatch> run()
    {
        matchModules();
        matchGaps();
        QS_CHECK(m_job.check());
        ModelMatch out;
        std::unordered_set<NodeId> seenFloat, seenConverted;
        std::sort(m_pairs.begin(), m_pairs.end());
        for (const auto& [a, b] : m_pairs) {
            seenFloat.insert(m_a[a].node);
            seenConverted.insert(m_b[b].node);
            ValueRef value {m_a[a].node, 0};
            if (const Node* norm = foldedNorm(value); norm && !m_matchedFloat.contains(norm->id)) {
                value = {norm->id, 0};
                seenFloat.insert(norm->id);
            }
            if (!m_b[b].last)
                continue; // only the last part has a value
            out.values.push_back({value, behindDequantize({m_b[b].node, 0})});
        }
        for (const Part& part : m_a)
            if (seenFloat.insert(part.node).second)
                out.unmatchedFloat.push_back(m_float.get(part.node).name);
        for (const Part& part : m_b)
            if (seenConverted.insert(part.node).second)
                out.unmatchedConverted.push_back(m_converted.get(part.node).name);
        return out;
    }

private:
    void take(const PlacePairs& pairs)
    {
        for (const auto& [a, b] : pairs) {
            m_takenA[a] = m_takenB[b] = true;
            m_matchedFloat.insert(m_a[a].node);
        }
        m_pairs.insert(m_pairs.end(), pairs.begin(), pairs.end());
    }

    /// Matches operators by module path; several calls or operators with one path match in order.
    void matchModules()
    {
        std::map<std::string, std::vector<std::size_t>> inA, inB;
        for (std::size_t i = 0; i < m_a.size(); ++i)
            inA[m_a[i].module].push_back(i);
        for (std::size_t i = 0; i < m_b.size(); ++i)
            inB[m_b[i].module].push_back(i);
        for (const auto& [module, places] : inA)
            if (const auto other = inB.find(module); !module.empty() && other != inB.end())
                take(commonParts(m_a, places, m_b, other->second, m_job));
    }

    /// Matches the remaining operators between neighbours that are already matched.
    void matchGaps()
    {
        PlacePairs known = m_pairs;
        std::sort(known.begin(), known.end());
        std::size_t fromA = 0, fromB = 0;
        const auto close = [&](std::size_t toA, std::size_t toB) {
            if (toB >= fromB)
                take(commonParts(m_a, free(m_takenA, fromA, toA), m_b, free(m_takenB, fromB, toB),
                                 m_job));
        };
        for (const auto& [a, b] : known) {
            if (b < fromB)
                continue; // calls in another order
            close(a, b);
            fromA = a + 1;
            fromB = b + 1;
        }
        close(m_a.size(), m_b.size());
    }

    static std::vector<std::size_t> free(const std::vector<bool>& taken, std::size_t from,
                                         std::size_t to)
    {
        std::vector<std::size_t> places;
        for (std::size_t i = from; i < to; ++i)
            if (!taken[i])
                places.push_back(i);
        return places;
    }

    /// The batch norm that conversion folds into the producer of the value: its only reader.
    const Node* foldedNorm(ValueRef value) const
    {
        const auto& readers = m_float.users(value);
        const std::string kind = kindsOf(m_float.get(value.node)).front();
        if (readers.size() != 1 || (kind != "conv" && kind != "linear"))
            return nullptr;
        const Node& reader = m_float.get(readers.front().node);
        return reader.kind == NodeKind::Op && isBatchNorm(reader.target) ? &reader : nullptr;
    }

    ValueRef behindDequantize(ValueRef value) const
    {
        for (const Use& use : m_converted.users(value)) {
            const Node& quantize = m_converted.get(use.node);
            if (!isQuantizeStep(quantize.target))
                continue;
            for (const Use& next : m_converted.users({quantize.id, 0}))
                if (isDequantizeStep(m_converted.get(next.node).target))
                    return {next.node, 0};
        }
        return value;
    }

    const Graph& m_float;
    const Graph& m_converted;
    const JobContext& m_job;
    std::vector<Part> m_a, m_b;
    std::vector<bool> m_takenA, m_takenB;
    std::unordered_set<NodeId> m_matchedFloat;
    PlacePairs m_pairs;
};

} // namespace

Result<ModelMatch> matchModels(const Graph& floating, const Graph& converted, const JobContext& job)
{
    return Matcher(floating, converted, job).run();
}

} // namespace qs
