// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/diagnosis.h"

#include "engine/plan/summaries/group_root.h"

#include <algorithm>
#include <map>

namespace qs {

double expectedNoise(const Blame& blame)
{
    double all = 0;
    for (const SiteBlame& site : blame.sites)
        all += site.expected;
    return all;
}

NoisePart noisePart(const SiteBlame& site, double all)
{
    if (!(all > 0))
        return {};
    const double scaled = site.share > 0 ? site.standardError * site.expected / site.share : 0;
    return {site.expected / all, site.exact ? 0 : scaled / all};
}

std::vector<UnitNoise> noiseByUnit(const Blame& blame, const Graph& model, const Plan& plan)
{
    const double all = expectedNoise(blame);
    std::map<std::size_t, NoisePart> byPlace; // keyed by graph position
    for (const SiteBlame& site : blame.sites) {
        if (model.tryGet(site.site.node))
            byPlace[model.position(unitEnd(model, plan, site.site.node))] += noisePart(site, all);
    }
    std::vector<UnitNoise> units;
    for (const auto& [place, noise] : byPlace)
        units.push_back({model.nodes()[place]->id, noise});
    std::stable_sort(units.begin(), units.end(), [](const UnitNoise& a, const UnitNoise& b) {
        return a.noise.part > b.noise.part;
    });
    return units;
}

} // namespace qs
