// SPDX-License-Identifier: Apache-2.0
#include "engine/runs/node_match.h"

#include "engine/base/common_sequence.h"
#include "engine/graph/text/graph_printer.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace qs {

namespace {

using Nodes = std::vector<const NodeIdentity*>;

class NodeMatcher
{
public:
    NodeMatcher(const Nodes& first, const Nodes& second)
        : m_first(first)
        , m_second(second)
        , m_toSecond(first.size(), -1)
        , m_toFirst(second.size(), -1)
    {
        m_firstKeys = keysOf(first);
        m_secondKeys = keysOf(second);
    }

    std::vector<int> run()
    {
        pairByName();
        pairGroups([](std::size_t first, std::size_t second) { return first == 1 && second == 1; });
        pairGaps();
        pairGroups([](std::size_t first, std::size_t second) { return first == second; });
        return m_toFirst;
    }

private:
    void pair(std::size_t first, std::size_t second)
    {
        m_toSecond[first] = int(second);
        m_toFirst[second] = int(first);
    }

    /// Returns a small number for every module, operator and call; -1 if unknown.
    std::vector<int> keysOf(const Nodes& nodes)
    {
        std::vector<int> keys;
        for (const NodeIdentity* node : nodes) {
            const std::string words = node->module + '\n' + node->op + '\n'
                + std::to_string(node->callIndex)
                + '\n'
                // Stored tensors and inputs are identified by name.
                + (node->op.find('.') == std::string::npos ? node->name : std::string());
            keys.push_back(
                node->op.empty() ? -1 : m_known.emplace(words, int(m_known.size())).first->second);
        }
        return keys;
    }

    void pairByName()
    {
        std::unordered_map<std::string, std::size_t> named;
        const auto words = [](const NodeIdentity& node) { return node.file + '\n' + node.name; };
        for (std::size_t i = 0; i < m_first.size(); ++i)
            named.emplace(words(*m_first[i]), i);
        for (std::size_t j = 0; j < m_second.size(); ++j) {
            const auto it
                = m_second[j]->file.empty() ? named.end() : named.find(words(*m_second[j]));
            if (it == named.end() || m_toSecond[it->second] >= 0)
                continue;
            const std::string &a = m_first[it->second]->op, &b = m_second[j]->op;
            if (a == b || a.empty() || b.empty())
                pair(it->second, j);
        }
    }

    /// Pairs remaining nodes of one key in order, if `wanted` accepts the two counts.
    template<class Wanted>
    void pairGroups(const Wanted& wanted)
    {
        std::map<int, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> left;
        for (std::size_t i = 0; i < m_first.size(); ++i)
            if (m_toSecond[i] < 0 && m_firstKeys[i] >= 0)
                left[m_firstKeys[i]].first.push_back(i);
        for (std::size_t j = 0; j < m_second.size(); ++j)
            if (m_toFirst[j] < 0 && m_secondKeys[j] >= 0)
                left[m_secondKeys[j]].second.push_back(j);
        for (const auto& [key, places] : left)
            if (wanted(places.first.size(), places.second.size()))
                for (std::size_t k = 0; k < places.first.size(); ++k)
                    pair(places.first[k], places.second[k]);
    }

    /// Returns the longest subsequence of the pairs that ascends on both sides.
    PlacePairs risingPairs() const
    {
        PlacePairs pairs;
        for (std::size_t i = 0; i < m_first.size(); ++i)
            if (m_toSecond[i] >= 0)
                pairs.emplace_back(i, std::size_t(m_toSecond[i]));
        std::vector<std::size_t> ends; // ends of the best chain of each length
        std::vector<std::ptrdiff_t> before(pairs.size(), -1);
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            const auto it
                = std::lower_bound(ends.begin(), ends.end(), k, [&](std::size_t a, std::size_t b) {
                      return pairs[a].second < pairs[b].second;
                  });
            if (it != ends.begin())
                before[k] = std::ptrdiff_t(*std::prev(it));
            if (it == ends.end())
                ends.push_back(k);
            else
                *it = k;
        }
        PlacePairs chain;
        for (std::ptrdiff_t k = ends.empty() ? -1 : std::ptrdiff_t(ends.back()); k >= 0;
             k = before[std::size_t(k)])
            chain.push_back(pairs[std::size_t(k)]);
        std::reverse(chain.begin(), chain.end());
        return chain;
    }

    void pairGaps()
    {
        PlacePairs chain = risingPairs();
        chain.emplace_back(m_first.size(), m_second.size());
        std::size_t fromFirst = 0, fromSecond = 0;
        for (const auto& [toFirst, toSecond] : chain) {
            const auto first = left(m_toSecond, m_firstKeys, fromFirst, toFirst);
            const auto second = left(m_toFirst, m_secondKeys, fromSecond, toSecond);
            const auto pairs
                = commonSequence(first.size(), second.size(), [&](std::size_t i, std::size_t j) {
                      return m_firstKeys[first[i]] == m_secondKeys[second[j]];
                  });
            for (const auto& [i, j] : pairs)
                pair(first[i], second[j]);
            fromFirst = toFirst + 1;
            fromSecond = toSecond + 1;
        }
    }

    static std::vector<std::size_t> left(const std::vector<int>& paired,
                                         const std::vector<int>& keys, std::size_t from,
                                         std::size_t to)
    {
        std::vector<std::size_t> places;
        for (std::size_t i = from; i < to; ++i)
            if (paired[i] < 0 && keys[i] >= 0)
                places.push_back(i);
        return places;
    }

    const Nodes& m_first;
    const Nodes& m_second;
    std::vector<int> m_toSecond, m_toFirst;
    std::unordered_map<std::string, int> m_known;
    std::vector<int> m_firstKeys, m_secondKeys;
};

} // namespace

std::vector<int> matchNodes(const std::vector<const NodeIdentity*>& first,
                            const std::vector<const NodeIdentity*>& second)
{
    return NodeMatcher(first, second).run();
}

std::vector<NodeIdentity> identitiesOf(const Graph& model)
{
    std::vector<NodeIdentity> out;
    for (const NodePtr& node : model.nodes())
        if (node->kind != NodeKind::Output)
            out.push_back(
                {model.info().sha256, node->name, node->scope.path,
                 node->isOperator() ? node->target : std::string(nodeKindName(node->kind)),
                 node->scope.callIndex});
    return out;
}

} // namespace qs
