// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/why_json.h"

#include "engine/configure/json/cure_json.h"
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/export/documents/node_json.h"
#include "engine/plan/names/unit_title.h"

#include <algorithm>

namespace qs {

namespace {

constexpr std::size_t kNamedReaders = 2;

std::string titleOf(const WhyParts& parts, const NodeTitles& titles, NodeId id)
{
    const Node* node = parts.model->tryGet(id);
    return node ? unitTitle(titles, *parts.plan, parts.plan->tryGet(*parts.model, id), *node)
                : std::string("an edit's operator");
}

Json optionsJson(const Diagnosis& diagnosis)
{
    const BlameOptions& options = diagnosis.options;
    return {{"samples", options.samples},
            {"rows", options.rows},
            {"seed", options.seed},
            {"exact", options.exact ? Json(*options.exact) : Json(nullptr)},
            {"eight_bits", diagnosis.eightBitsHold}};
}

Json unitsJson(const WhyParts& parts, const NodeTitles& titles)
{
    Json list = Json::array();
    for (const UnitNoise& unit : parts.diagnosis->units)
        list.push_back({{"title", titleOf(parts, titles, unit.node)},
                        {"node", parts.model->get(unit.node).name},
                        {"part", numberJson(unit.noise.part)},
                        {"part_error", numberJson(unit.noise.standardError)}});
    return list;
}

Json siteJson(const WhyParts& parts, const NodeTitles& titles, const SiteBlame& blamed, double all)
{
    const BlameSite& site = blamed.site;
    const Node* node = parts.model->tryGet(site.node);
    const NoisePart noise = noisePart(blamed, all);
    Json at = Json::array();
    for (const NodeId id : site.at)
        at.push_back(parts.model->get(id).name);
    return {
        {"title", siteTitle(parts, titles, site)},
        {"node", node ? Json(node->name) : Json(nullptr)},
        {"module", node ? Json(node->scope.path) : Json(nullptr)},
        {"op", node ? Json(node->target) : Json(nullptr)},
        {"kind", siteKindName(site.kind)},
        {"readers",
         site.kind == BlameSite::Kind::Value ? Json(readerClassName(site.readers)) : Json(nullptr)},
        {"output", site.kind == BlameSite::Kind::Value ? Json(site.value.index) : Json(nullptr)},
        {"at", std::move(at)},
        {"observer", site.observer ? Json(site.observer.value()) : Json(nullptr)},
        {"share", numberJson(blamed.share)},
        {"share_db", numberJson(shareDb(blamed.share))},
        {"standard_error", numberJson(blamed.standardError)},
        {"exact", numberJson(blamed.exact)},
        {"white", numberJson(blamed.white)},
        {"own_db", numberJson(blamed.ownDb)},
        {"blocked", blamed.blocked},
        {"expected", numberJson(blamed.expected)},
        {"part", numberJson(noise.part)},
        {"part_error", numberJson(noise.standardError)}};
}

/// Collects the proposals' qconfigs under names, as in a recipe, without duplicates.
class ProposedQConfigs
{
public:
    /// Returns the cure with the name of its qconfig.
    Cure named(const Proposal& proposal)
    {
        Cure cure = proposal.cure;
        if (!proposal.qconfig)
            return cure;
        const auto found = std::find(m_all.begin(), m_all.end(), *proposal.qconfig);
        cure.qconfig = "why_" + std::to_string(found - m_all.begin() + 1);
        if (found == m_all.end())
            m_all.push_back(*proposal.qconfig);
        return cure;
    }
    Json json() const
    {
        Json all = Json::object();
        for (std::size_t i = 0; i < m_all.size(); ++i)
            all["why_" + std::to_string(i + 1)] = qconfigToJson(m_all[i]);
        return all;
    }

private:
    std::vector<QConfig> m_all;
};

Json causeJson(const WhyParts& parts, const NodeTitles& titles, const Cause& cause,
               ProposedQConfigs& qconfigs)
{
    const BlameSite& site = parts.blame().sites.at(cause.site).site;
    const Node* node = parts.model->tryGet(site.node);
    std::vector<Cure> cures;
    for (const Proposal& proposal : cause.proposals)
        cures.push_back(qconfigs.named(proposal));
    return {{"cause", causeName(cause.code)},
            {"words", causeWords(cause.code)},
            {"title", siteTitle(parts, titles, site)},
            {"node", node ? Json(node->name) : Json(nullptr)},
            {"module", node ? Json(node->scope.path) : Json(nullptr)},
            {"site", cause.site},
            {"share", numberJson(cause.share)},
            {"evidence", cause.evidence},
            {"cures", curesToJson(cures)}};
}

} // namespace

std::string siteTitle(const WhyParts& parts, const NodeTitles& titles, const BlameSite& site)
{
    std::string title = titleOf(parts, titles, site.node);
    if (site.kind == BlameSite::Kind::Weight)
        return title + ", weight";
    return site.kind == BlameSite::Kind::Interior ? title + ", inside" : title;
}

std::string siteReaders(const WhyParts& parts, const NodeTitles& titles, const BlameSite& site)
{
    if (site.kind != BlameSite::Kind::Value)
        return "";
    if (site.readers == ReaderClass::Output)
        return "the output";
    std::vector<std::string> names;
    for (const NodeId id : site.at) {
        std::string name = titleOf(parts, titles, id);
        if (names.empty() || names.back() != name)
            names.push_back(std::move(name));
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kNamedReaders); ++i)
        text += (i ? ", " : "") + names[i];
    if (names.size() > kNamedReaders)
        text += " and " + std::to_string(names.size() - kNamedReaders) + " more";
    return text;
}

Json frontJson(const std::vector<PredictedPoint>& front)
{
    Json points = Json::array();
    for (const PredictedPoint& point : front)
        points.push_back({{"int8_macs", numberJson(point.int8Macs)}, {"db", numberJson(point.db)}});
    return points;
}

Json whyDocument(const WhyParts& parts)
{
    const Blame& blame = parts.blame();
    const NodeTitles titles(*parts.model);
    const double all = expectedNoise(blame);
    const ModelInfo& info = parts.model->info();
    const auto additivity = blame.additivity();
    Json sites = Json::array();
    for (const SiteBlame& site : blame.sites)
        sites.push_back(siteJson(parts, titles, site, all));
    ProposedQConfigs qconfigs;
    Json causes = Json::array();
    for (const Cause& cause : parts.diagnosis->causes)
        causes.push_back(causeJson(parts, titles, cause, qconfigs));
    return {{"format", "quantscope.why"},
            {"version", 1},
            {"model", {{"path", info.path}, {"sha256", info.sha256}}},
            {"data", parts.diagnosis->data},
            {"options", optionsJson(*parts.diagnosis)},
            {"outputs", blame.outputs},
            {"samples", blame.samples},
            {"probes", blame.probes},
            {"measured", numberJson(blame.measured)},
            {"predicted", numberJson(blame.predicted)},
            {"measured_db", numberJson(shareDb(blame.measured))},
            {"predicted_db", numberJson(shareDb(blame.predicted))},
            {"additivity", numberJson(additivity)},
            {"additive", blame.isAdditive()},
            {"units", unitsJson(parts, titles)},
            {"sites", std::move(sites)},
            {"causes", std::move(causes)},
            {"front", frontJson(parts.diagnosis->front)},
            {"qconfigs", qconfigs.json()},
            {"left_out", blame.leftOut}};
}

std::string whyJson(const WhyParts& parts)
{
    return whyDocument(parts).dump(2) + "\n";
}

} // namespace qs
