// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_engine.h"

#include <chrono>
#include <thread>

namespace qs {

BlamePtr fakeBlame(const Plan& plan)
{
    auto blame = std::make_shared<Blame>();
    double share = 1e-4;
    for (const auto& decided : plan.nodes) {
        if (!decided.quantized)
            continue;
        SiteBlame site;
        site.site.node = decided.node;
        site.share = site.expected = share;
        site.standardError = share / 10;
        blame->sites.push_back(site);
        blame->predicted += share;
        share /= 2;
    }
    blame->measured = blame->predicted;
    blame->samples = 16;
    blame->probes = 4;
    return blame;
}

std::vector<Cause> fakeCauses(const Graph& model, const Blame& blame, int count)
{
    std::vector<Cause> causes;
    for (std::size_t i = 0; i < blame.sites.size() && int(i) < count; ++i) {
        Cause cause;
        cause.site = i;
        cause.code = i == 0 ? CauseCode::WeightRounding : CauseCode::OutlierChannel;
        cause.share = noisePart(blame.sites[i], expectedNoise(blame)).part;
        cause.evidence = {i == 0 ? "the weight causes 80 % of it"
                                 : "channel 5 of 16 is 12 times the median channel"};
        Cure cure;
        cure.at.kind = ValueAddress::Kind::Operator;
        const Node& node = model.get(blame.sites[i].site.node);
        cure.at.module = node.scope.path;
        cure.at.op = node.target;
        cause.proposals = {{cure, {}}};
        if (i == 1) {
            cure.kind = CureKind::FloatResult;
            cause.proposals.insert(cause.proposals.begin(), {cure, {}});
        }
        causes.push_back(std::move(cause));
    }
    return causes;
}

Result<DiagnosisPtr> FakeEngine::why(const CompareRequest& request, const BlameOptions&,
                                     const JobContext& job)
{
    ++blames;
    while (waitInBlame) {
        QS_CHECK(job.check());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const PreparedModel& prepared = *request.converted->prepared;
    const BlamePtr blame = fakeBlame(*prepared.plan);
    auto out = std::make_shared<Diagnosis>();
    out->units = noiseByUnit(*blame, *prepared.model, *prepared.plan);
    if (!isHealthy)
        out->causes = fakeCauses(*prepared.model, *blame, causeCount);
    out->blame = blame;
    return DiagnosisPtr(std::move(out));
}

} // namespace qs
