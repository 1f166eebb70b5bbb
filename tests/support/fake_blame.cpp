// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_engine.h"

#include <chrono>
#include <thread>

namespace qs {

Result<DiagnosisPtr> FakeEngine::why(const CompareRequest& request, const BlameOptions&,
                                     const JobContext& job)
{
    ++blames;
    while (waitInBlame) {
        QS_CHECK(job.check());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const PreparedModel& prepared = *request.converted->prepared;
    auto blame = std::make_shared<Blame>();
    double share = 1e-4;
    for (const auto& decided : prepared.plan->nodes) {
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
    auto out = std::make_shared<Diagnosis>();
    out->units = noiseByUnit(*blame, *prepared.model, *prepared.plan);
    if (!isHealthy && !blame->sites.empty()) {
        Cause cause;
        cause.code = CauseCode::WeightRounding;
        cause.share = noisePart(blame->sites.front(), expectedNoise(*blame)).part;
        cause.evidence = {"the weight causes 80 % of it"};
        Cure cure;
        cure.at.kind = ValueAddress::Kind::Operator;
        const Node& node = prepared.model->get(blame->sites.front().site.node);
        cure.at.module = node.scope.path;
        cure.at.op = node.target;
        cause.proposals = {{cure, {}}};
        out->causes = {cause};
    }
    out->blame = std::move(blame);
    return DiagnosisPtr(std::move(out));
}

} // namespace qs
