// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/object_types.h"

#include "engine/base/json/nearest_name.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/operators.h"

namespace qs {

namespace {

std::set<std::string> knownTypes(const Graph& graph, const std::vector<OpName>& names,
                                 const Backend& backend)
{
    std::set<std::string> known = knownTypeNames();
    for (const char* shipped : {"x86", "fbgemm"})
        if (const auto defaults = QConfigMapping::defaultFor(shipped))
            for (const Rule& rule : defaults->rules)
                known.insert(canonicalTypeName(rule.key));
    const auto addBackend = [&known](const Backend& source) {
        known.merge(patternNames(source));
        for (const auto& entry : source.patterns)
            for (const std::string& name : {entry.rootModule, entry.fusedModule, entry.qatModule})
                known.insert(name);
    };
    addBackend(backend);
    if (const auto native = findBackend("native"))
        addBackend(*native);
    for (const std::string& target : packOperators())
        known.insert("torch.ops." + target);
    for (const auto& name : names) {
        known.insert(name.name);
        known.insert(name.others.begin(), name.others.end());
    }
    for (const ModuleEntry* module : graph.modules().inOrder())
        known.insert(canonicalTypeName(module->moduleClass));
    known.erase("");
    return known;
}

} // namespace

std::set<std::string> patternNames(const Backend& backend)
{
    std::set<std::string> names;
    for (const BackendPattern& entry : backend.patterns)
        for (const std::string& name : entry.pattern)
            names.insert(canonicalTypeName(name));
    return names;
}

Result<void> checkPackOperators(const Backend& backend)
{
    constexpr std::string_view kPython = "torch.ops.";
    for (const std::string& name : patternNames(backend)) {
        if (!name.starts_with(kPython) || packOperator(name.substr(kPython.size())))
            continue;
        const std::string near = nearestName(name.substr(kPython.size()), packOperators());
        return fail(makeError(ErrorCode::BadInput,
                              "backend '" + backend.name + "' names '" + name
                                  + "', which no loaded extension pack has")
                        .withHint(near.empty()
                                      ? "give the pack's folder: --extension DIR"
                                      : "did you mean '" + std::string(kPython) + near + "'?"));
    }
    return {};
}

Result<void> checkObjectTypes(const QConfigMapping& mapping, const Graph& graph,
                              const std::vector<OpName>& names, const Backend& backend)
{
    std::set<std::string> known;
    for (const Rule& rule : mapping.rules) {
        const bool byType = rule.kind == RuleKind::ObjectType;
        if ((!byType && rule.kind != RuleKind::ModuleNameObjectTypeOrder) || rule.fromBackend)
            continue;
        if (known.empty())
            known = knownTypes(graph, names, backend);
        const std::string& type = byType ? rule.key : rule.secondKey;
        if (known.count(canonicalTypeName(type)))
            continue;
        const std::vector<std::string> list(known.begin(), known.end());
        const std::string near = nearestName(canonicalTypeName(type), list);
        return fail(makeError(ErrorCode::BadInput,
                              "mapping." + std::string(ruleKindName(rule.kind))
                                  + ": unknown object type '" + type + "'")
                        .withHint(near.empty() ? "write types as in Python: torch.nn.Conv2d, "
                                                 "torch.nn.functional.relu, operator.add, reshape"
                                               : "did you mean '" + near + "'?"));
    }
    return {};
}

} // namespace qs
