// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/rules/mixed_qconfigs.h"

namespace qs {

namespace {

constexpr std::size_t kNamed = 3;

/// The users of one kind of qconfig; the first few by name.
struct Users
{
    std::string text;
    std::size_t count = 0;

    void add(const std::string& who, const Rule& rule)
    {
        if (count++ < kNamed)
            text += (text.empty() ? "" : ", ") + who + " has '" + rule.qconfig.name + "' ("
                + std::string(ruleKindName(rule.kind))
                + (rule.key.empty() || rule.kind == RuleKind::Edge ? "" : " '" + rule.key + "'")
                + ")";
    }
    std::string told() const
    {
        return count > kNamed ? text + " and " + std::to_string(count - kNamed) + " more" : text;
    }
};

bool observes(const QConfig& qconfig)
{
    return choosesQParams(qconfig.activation.kind) || choosesQParams(qconfig.weight.kind);
}

} // namespace

Result<void> checkMixedQConfigs(const Graph& graph, const Matches& matches,
                                const std::vector<RuleHits>& hits, const QConfigMapping& mapping,
                                std::vector<std::string>& warnings)
{
    Users training, calibration;
    const auto sort = [&](const std::string& who, const Rule& rule) {
        if (!rule.qconfig.config || rule.fromBackend)
            return;
        if (isForTraining(*rule.qconfig.config))
            training.add(who, rule);
        else if (observes(*rule.qconfig.config))
            calibration.add(who, rule);
    };
    for (std::size_t u = 0; u < matches.units.size(); ++u)
        if (!hits[u].empty() && matches.matchOf.count(matches.units[u].root()))
            sort("'" + graph.get(matches.units[u].root()).name + "'", *hits[u].front());
    for (const Rule& rule : mapping.rules)
        if (rule.kind == RuleKind::Edge)
            sort("the edge from '" + rule.key + "' to '" + rule.secondKey + "'", rule);
    if (training.count && calibration.count)
        return fail(
            makeError(ErrorCode::BadInput,
                      "qconfigs for calibration and for training (fake-quantize) are mixed: "
                          + calibration.told() + "; but " + training.told())
                .withHint("use qconfigs of one kind"));
    if (training.count)
        warnings.push_back(
            kForTraining + std::string(" (") + training.told()
            + "): 'quantscope train' trains for them; without a training the observer "
              "inside each fake-quantize is calibrated");
    return {};
}

} // namespace qs
