// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/blame/causes/cause.h"
#include "engine/graph/text/node_titles.h"
#include "engine/plan/plan.h"

#include <string>

namespace qs {

/// Input of the `why` document and text. Borrowed for the call.
struct WhyParts
{
    const Graph* model = nullptr; ///< the float model
    const Plan* plan = nullptr;
    const Blame* blame = nullptr;
    const std::vector<Cause>* causes = nullptr;
    std::string data; ///< as named
};

/// What a site is called: "block1.conv2 + bn2", "block1.conv2, weight", "lstm, inside".
std::string siteTitle(const WhyParts& parts, const NodeTitles& titles, const BlameSite& site);
/// What reads it: "layer1.0 · add", "conv2, conv3 and 2 more"; "the output".
std::string siteReaders(const WhyParts& parts, const NodeTitles& titles, const BlameSite& site);

/// One document, two-space indent: `{format, version, model, data, outputs[], samples, probes,
/// measured_db, predicted_db, additivity, additive, sites[], causes[], qconfigs, left_out[]}`. A
/// site: `{title, node, module, op, kind, readers, at[], observer, share, share_db, standard_error,
/// exact, white, own_db, blocked}`, the greatest share first.
std::string whyJson(const WhyParts& parts);

} // namespace qs
