// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/rules/rule_table.h"

#include "engine/graph/module_tree.h"

#include <algorithm>

namespace qs {

namespace {

/// Whether `type` is the name by which calls are counted, or another spelling of it.
bool isCalled(const RuleSubject& subject, const std::string& type)
{
    return type == subject.orderType
        || std::find(subject.spellings.begin(), subject.spellings.end(), type)
        != subject.spellings.end();
}

} // namespace

Result<RuleTable> RuleTable::make(const QConfigMapping& mapping)
{
    RuleTable table;
    table.m_rules = mapping.rules;
    table.m_used.assign(mapping.rules.size(), false);
    for (std::size_t i = table.m_rules.size(); i-- > 0;) {
        const Rule& rule = table.m_rules[i];
        table.m_hasLate = table.m_hasLate || rule.atConvert;
        switch (rule.kind) {
        case RuleKind::ObjectType:
            table.m_types[canonicalTypeName(rule.key)].push_back(i);
            break;
        case RuleKind::ModuleName:
            table.m_modules[rule.key].push_back(i);
            break;
        case RuleKind::Node:
            table.m_nodes[rule.key].push_back(i);
            break;
        case RuleKind::Edge:
            table.m_hasEdges = true;
            break;
        default:
            break;
        }
    }
    for (std::size_t i = 0; i < table.m_rules.size(); ++i)
        if (table.m_rules[i].kind == RuleKind::ModuleNameRegex) {
            auto pattern = Pattern::compile(table.m_rules[i].key);
            if (!pattern) {
                Error error = std::move(pattern).error();
                error.message = "mapping.module_name_regex: " + error.message;
                return fail(std::move(error));
            }
            table.m_regexes.emplace_back(std::move(*pattern), i);
        }
    return table;
}

void RuleTable::add(RuleHits& hits, std::size_t rule)
{
    m_used[rule] = true;
    // A rule may match an operator in several ways, but must not override itself.
    if (std::find(hits.begin(), hits.end(), &m_rules[rule]) == hits.end())
        hits.push_back(&m_rules[rule]);
}

void RuleTable::addOfType(RuleHits& hits, const std::string& type)
{
    if (const auto found = m_types.find(type); found != m_types.end())
        for (const std::size_t rule : found->second)
            add(hits, rule);
}

RuleHits RuleTable::find(const RuleSubject& subject)
{
    RuleHits hits;
    if (const auto found = m_nodes.find(subject.nodeName); found != m_nodes.end())
        for (const std::size_t rule : found->second)
            add(hits, rule);
    for (std::size_t i = 0; i < m_rules.size(); ++i) {
        const Rule& rule = m_rules[i];
        if (rule.kind == RuleKind::ModuleNameObjectTypeOrder && rule.key == subject.orderModule
            && isCalled(subject, canonicalTypeName(rule.secondKey))
            && rule.index == subject.orderIndex)
            add(hits, i);
    }
    // The nearest enclosing module wins; the root has no name.
    for (std::string path = subject.modulePath; !path.empty(); path = ModuleTree::parentPath(path))
        if (const auto found = m_modules.find(path); found != m_modules.end())
            for (const std::size_t rule : found->second)
                add(hits, rule);
    // As Python's re.match: anchored at the start; the first matching rule wins.
    for (const auto& [regex, rule] : m_regexes)
        if (regex.matchesBegin(subject.modulePath))
            add(hits, rule);
    std::size_t ofLast = hits.size();
    for (const std::string& type : subject.types) {
        ofLast = hits.size();
        addOfType(hits, type);
    }
    // A recipe's rule for one spelling precedes a backend's rule for another.
    for (const std::string& type : subject.spellings)
        addOfType(hits, type);
    if (!subject.spellings.empty())
        std::stable_partition(hits.begin() + std::ptrdiff_t(ofLast), hits.end(),
                              [](const Rule* rule) { return !rule->fromBackend; });
    for (std::size_t i = m_rules.size(); i-- > 0;)
        if (m_rules[i].kind == RuleKind::Global)
            add(hits, i);
    if (m_hasLate)
        std::stable_partition(hits.begin(), hits.end(),
                              [](const Rule* rule) { return rule->atConvert; });
    return hits;
}

const Rule* RuleTable::edgeRule(const std::string& producer, const std::string& consumer, int index)
{
    if (!m_hasEdges)
        return nullptr;
    for (std::size_t i = m_rules.size(); i-- > 0;) {
        const Rule& rule = m_rules[i];
        if (rule.kind == RuleKind::Edge && rule.key == producer && rule.secondKey == consumer
            && rule.index == index) {
            m_used[i] = true;
            return &rule;
        }
    }
    return nullptr;
}

std::vector<Rule> RuleTable::unused() const
{
    std::vector<Rule> out;
    for (std::size_t i = 0; i < m_rules.size(); ++i)
        if (!m_used[i] && !m_rules[i].fromBackend && m_rules[i].kind != RuleKind::Global)
            out.push_back(m_rules[i]);
    return out;
}

} // namespace qs
