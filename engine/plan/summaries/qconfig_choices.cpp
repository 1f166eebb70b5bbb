// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/summaries/qconfig_choices.h"

#include "engine/base/text.h"
#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/configure/quantization_mode.h"
#include "engine/plan/decide.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

namespace qs {

namespace {

/// Most kinds of operators that are tried; a selection mostly repeats few kinds.
constexpr std::size_t kMostKinds = 64;

/// A match of the plan that represents all matches of its kind.
struct Kind
{
    const MatchGroup* group;
    std::string word; ///< "conv2d + relu"
};

/// Key of a match's kind: equal for matches that support the same qconfigs.
std::string kindKey(const Graph& graph, const MatchGroup& group)
{
    std::string key = std::to_string(group.patternEntry) + group.referenceModule;
    for (const NodeId id : group.members)
        key += " " + graph.get(id).target;
    // Groups must fill the rows of the weight, and inputs be float32.
    for (const NamedArgument& argument : graph.get(group.root).args)
        if (const ValueRef* ref = argument.value.asRef()) {
            const ValueType& type = graph.value(*ref).type;
            key += " " + std::string(dtypeName(type.dtype));
            if (graph.get(ref->node).kind == NodeKind::Parameter)
                for (const Dim& dim : type.shape)
                    key += "," + std::to_string(dim.size);
        }
    return key;
}

std::vector<Kind> kindsOf(const Graph& graph, const Plan& plan, const std::vector<NodeId>& nodes)
{
    std::vector<Kind> kinds;
    std::set<int> seen;
    std::set<std::string> keys;
    for (const NodeId id : nodes) {
        const NodePlan* decided = plan.tryGet(graph, id);
        if (!decided || decided->group < 0 || !seen.insert(decided->group).second)
            continue;
        const MatchGroup& group = plan.groups[std::size_t(decided->group)];
        if (!keys.insert(kindKey(graph, group)).second)
            continue;
        std::string word;
        for (const std::string& name : decided->pattern)
            word += (word.empty() ? "" : " + ") + lastPart(name);
        kinds.push_back({&group, word});
        if (kinds.size() == kMostKinds)
            break;
    }
    return kinds;
}

/// Tries qconfigs on matches of a plan.
class Trial
{
public:
    Trial(const Graph& graph, const Plan& plan, const Backend& backend,
          const std::vector<Kind>& kinds)
        : m_names(graph.nodes().size())
    {
        for (const Kind& kind : kinds)
            add(graph, plan, *kind.group);
        m_decider = std::make_unique<Decider>(graph, m_names, m_matches, backend);
    }

    Verdicts decide(std::size_t kind, const NamedQConfig& qconfig) const
    {
        Rule rule;
        rule.kind = RuleKind::Node;
        rule.qconfig = qconfig;
        const std::vector<RuleHits> hits(m_matches.units.size(), RuleHits {&rule});
        std::vector<std::string> warnings;
        return m_decider->decide(m_matches.matches[kind], hits, warnings);
    }

    /// The qconfig of operators of that kind in the backend's default mapping.
    const NamedQConfig& usual(std::size_t kind) const
    {
        return m_decider->usualQConfig(m_names[m_roots[kind]]);
    }

private:
    void add(const Graph& graph, const Plan& plan, const MatchGroup& group)
    {
        Match match;
        match.entry = group.patternEntry;
        Unit whole;
        for (const NodeId id : group.members) {
            if (group.fused) {
                whole.nodes.push_back(id);
                continue;
            }
            match.units.push_back(m_matches.units.size());
            m_matches.units.push_back({{id}, {}, {}, -1, {}});
        }
        if (group.fused) {
            match.units.push_back(m_matches.units.size());
            m_matches.units.push_back(std::move(whole));
        }
        m_matches.matches.push_back(std::move(match));
        const std::size_t root = graph.position(group.root);
        m_roots.push_back(root);
        OpName& name = m_names[root] = opNameOf(graph.get(group.root));
        // Of several possible names, the one under which the pattern was found.
        const auto& pattern = plan.nodes[root].pattern;
        if (!pattern.empty()
            && std::find(name.others.begin(), name.others.end(), pattern.front())
                != name.others.end()) {
            name.name = pattern.front();
            name.kind = name.name.find('.') == std::string::npos ? OpName::Kind::Method
                                                                 : OpName::Kind::Function;
        }
    }

    OpNames m_names;
    Matches m_matches;
    std::vector<std::size_t> m_roots; ///< positions
    std::unique_ptr<Decider> m_decider;
};

std::vector<QConfigChoice> namedQConfigs(const Recipe& recipe, const Backend& backend)
{
    std::vector<QConfigChoice> out;
    const auto add = [&](const std::string& name, bool isOwn) {
        const bool isThere = std::any_of(
            out.begin(), out.end(), [&name](const auto& choice) { return choice.name == name; });
        const auto config = isThere ? std::nullopt : findQConfig(recipe, name);
        if (!config)
            return;
        QConfigChoice choice;
        choice.name = name;
        choice.config = *config;
        choice.isOwn = isOwn;
        out.push_back(std::move(choice));
    };
    for (const auto& [name, config] : recipe.qconfigs)
        add(name, true);
    add(backend.name, false);
    add(backend.defaultQConfig, false);
    for (const std::string& name : presetNames())
        add(name, false);
    return out;
}

int bitsOf(const ObserverSpec& spec)
{
    if (!isIntegerDType(spec.dtype))
        return spec.dtype == DType::Float16 ? 16 : 32;
    const QuantRange range = quantRange(spec);
    return int(std::bit_width(std::uint64_t(range.max - range.min)));
}

/// Rank of a qconfig: greater is better; criteria in order of importance.
auto merit(const QConfig& qconfig)
{
    const auto mode = quantizationMode(qconfig);
    const bool isInteger = isIntegerDType(qconfig.weight.dtype);
    return std::tuple(isInteger, mode && *mode == QuantizationMode::Static,
                      isPerChannel(qconfig.weight.qscheme),
                      qconfig.activation.kind == ObserverKind::Histogram, bitsOf(qconfig.weight),
                      bitsOf(qconfig.activation));
}

std::string schemeWords(const ObserverSpec& spec)
{
    if (spec.kind == ObserverKind::ReuseInput)
        return "as its input";
    if (!choosesQParams(spec.kind) && !spec.isDynamic)
        return std::string(dtypeName(spec.dtype));
    if (!isIntegerDType(spec.dtype))
        return (spec.isDynamic ? "dynamic " : "") + std::string(dtypeName(spec.dtype));
    std::string words = std::to_string(bitsOf(spec)) + "-bit ";
    if (spec.isDynamic)
        return words + "dynamic";
    if (spec.kind == ObserverKind::FixedQParams)
        return words + "fixed";
    words += isSymmetric(spec.qscheme) ? "symmetric" : "affine";
    if (spec.groupSize > 0)
        words += ", groups of " + std::to_string(spec.groupSize);
    else if (isPerChannel(spec.qscheme))
        words += ", per channel";
    return words;
}

void judge(QConfigChoice& choice, const Trial& trial, const std::vector<Kind>& kinds)
{
    std::size_t fitting = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        const Verdicts verdict = trial.decide(k, {choice.name, choice.config});
        if (verdict.decision.quantized)
            ++fitting;
        else if (choice.why.empty())
            choice.why = verdict.reason.text();
    }
    if (fitting == 0)
        return;
    choice.fit = QConfigFit::Compatible;
    if (fitting == kinds.size())
        choice.why.clear();
}

/// Marks the backend's default qconfig as recommended; adds it if it is missing.
class Recommender
{
public:
    Recommender(const Trial& trial, const std::vector<Kind>& kinds, const Recipe& recipe,
                const Backend& backend, std::vector<QConfigChoice>& choices)
        : m_trial(trial)
        , m_kinds(kinds)
        , m_recipe(recipe)
        , m_backend(backend)
        , m_choices(choices)
    {
    }

    void run()
    {
        if (recommend(m_backend.name) || recommend(m_backend.defaultQConfig))
            return;
        const NamedQConfig& usual = m_trial.usual(0);
        bool isUsualOfAll = true;
        for (std::size_t k = 1; k < m_kinds.size(); ++k)
            isUsualOfAll &= m_trial.usual(k).config == usual.config;
        if (isUsualOfAll
            && (recommend(usual.name)
                || recommendNew(usual.config, usual.name,
                                "what backend " + m_backend.name + " is meant to have")))
            return;
        if (recommendBest() || m_kinds.size() > 1)
            return;
        const std::string& preset = m_backend.defaultQConfig;
        if (const auto config = findQConfig(m_recipe, preset))
            recommendNew(m_trial.decide(0, {preset, config}).remedy.qconfig, preset + "_fit",
                         "the nearest to '" + preset + "' that backend " + m_backend.name
                             + " takes");
    }

private:
    std::string forWhat() const
    {
        return m_kinds.size() == 1 && !m_kinds.front().word.empty() ? " for " + m_kinds.front().word
                                                                    : std::string();
    }

    bool recommend(const std::string& name)
    {
        const auto found
            = std::find_if(m_choices.begin(), m_choices.end(), [&](const QConfigChoice& choice) {
                  return choice.name == name && !choice.isOwn;
              });
        if (found == m_choices.end() || !fitsAll(*found))
            return false;
        found->fit = QConfigFit::Recommended;
        found->why = "what backend " + m_backend.name + " is meant to have" + forWhat();
        return true;
    }

    /// Recommends a qconfig that has no name yet: that of the default mapping for the type, or a
    /// preset changed as the backend requires. Named `name`, or a variant of it.
    bool recommendNew(const SharedQConfig& config, const std::string& name, const std::string& why)
    {
        if (!config || !m_trial.decide(0, {"", config}).decision.quantized)
            return false;
        Recipe scratch = m_recipe;
        QConfigChoice fitted;
        fitted.name = addQConfig(scratch, *config, name.empty() ? "own" : name).name;
        fitted.config = *config;
        fitted.fit = QConfigFit::Recommended;
        fitted.isNew = true;
        fitted.why = why + forWhat();
        for (QConfigChoice& choice : m_choices)
            if (choice.name == fitted.name) {
                choice.fit = fitted.fit;
                choice.why = fitted.why;
                return true;
            }
        m_choices.insert(m_choices.begin(), std::move(fitted));
        return true;
    }

    bool recommendBest()
    {
        QConfigChoice* best = nullptr;
        for (QConfigChoice& choice : m_choices)
            if (fitsAll(choice) && !isForTraining(choice.config)
                && (!best || merit(best->config) < merit(choice.config)))
                best = &choice;
        if (!best)
            return false;
        best->fit = QConfigFit::Recommended;
        best->why = "of what backend " + m_backend.name + " takes" + forWhat()
            + ", the finest weights and the most bits";
        return true;
    }

    static bool fitsAll(const QConfigChoice& choice)
    {
        return choice.fit != QConfigFit::Unfit && choice.why.empty();
    }

    const Trial& m_trial;
    const std::vector<Kind>& m_kinds;
    const Recipe& m_recipe;
    const Backend& m_backend;
    std::vector<QConfigChoice>& m_choices;
};

/// Why no qconfig fits nodes that no pattern matches.
std::string whyNone(const Graph& graph, const Plan& plan, const std::vector<NodeId>& nodes)
{
    for (const NodeId id : nodes)
        if (const NodePlan* decided = plan.tryGet(graph, id); decided && !decided->reason.empty())
            return decided->reason.text();
    return {};
}

} // namespace

std::vector<QConfigChoice> qconfigChoices(const Graph& graph, const Plan& plan,
                                          const Recipe& recipe, const Backend& backend,
                                          const std::vector<NodeId>& nodes)
{
    std::vector<QConfigChoice> choices = namedQConfigs(recipe, backend);
    const std::vector<Kind> kinds = kindsOf(graph, plan, nodes);
    if (kinds.empty()) {
        for (QConfigChoice& choice : choices)
            choice.why = whyNone(graph, plan, nodes);
        return choices;
    }
    const Trial trial(graph, plan, backend, kinds);
    for (QConfigChoice& choice : choices)
        judge(choice, trial, kinds);
    Recommender(trial, kinds, recipe, backend, choices).run();
    std::stable_partition(choices.begin(), choices.end(), [](const QConfigChoice& choice) {
        return choice.fit != QConfigFit::Compatible || choice.why.empty();
    });
    return choices;
}

std::string qconfigWords(const QConfig& qconfig)
{
    const std::string activation = schemeWords(qconfig.activation);
    const std::string weight = schemeWords(qconfig.weight);
    return activation + " · weight " + weight + (qconfig.floatResult ? " · float result" : "");
}

} // namespace qs
