// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/pattern.h"
#include "engine/base/result.h"
#include "engine/configure/qconfig_mapping.h"
#include "engine/plan/names/op_vocabulary.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

/// The facts of one operator that rules match.
struct RuleSubject
{
    std::string nodeName;
    std::vector<std::string> types; ///< names for object-type rules, strongest first
    std::vector<std::string> spellings; ///< other spellings of the last of them
    std::string modulePath; ///< of the module that owns the operator
    std::string orderModule; ///< module_name_object_type_order: the module,
    std::string orderType; ///< the type
    int orderIndex = 0; ///< and which call of that type in that module this is
};

/// The rules that reach one operator, strongest first; empty = none. Borrowed from the table.
using RuleHits = std::vector<const Rule*>;

/// An index of a mapping. Precedence as in torch.ao's QConfigMapping, with node rules above.
class RuleTable
{
public:
    static Result<RuleTable> make(const QConfigMapping& mapping);

    RuleHits find(const RuleSubject& subject);
    bool hasEdges() const { return m_hasEdges; }
    /// The rule for one input of one consumer; null without one.
    const Rule* edgeRule(const std::string& producer, const std::string& consumer, int index);
    /// The recipe's rules that never reached any operator, for warnings.
    std::vector<Rule> unused() const;
    const std::vector<Rule>& rules() const { return m_rules; }

private:
    void add(RuleHits& hits, std::size_t rule);
    void addOfType(RuleHits& hits, const std::string& type);

    std::vector<Rule> m_rules;
    std::vector<bool> m_used;
    bool m_hasEdges = false;
    bool m_hasLate = false; ///< some rule is from convert.qconfig_mapping
    std::vector<std::pair<Pattern, std::size_t>> m_regexes;
    std::map<std::string, std::vector<std::size_t>> m_types; ///< strongest (latest) first
    std::map<std::string, std::vector<std::size_t>> m_modules;
    std::map<std::string, std::vector<std::size_t>> m_nodes;
};

} // namespace qs
