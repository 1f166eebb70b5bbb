// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/diagnosis.h"
#include "engine/graph/text/node_titles.h"
#include "engine/plan/plan.h"
#include "engine/result/result_document.h"

#include <string>

namespace qs {

/// Input of the `why` document and text. Borrowed for the call; all members are required.
struct WhyParts
{
    const Graph* model = nullptr; ///< the float model
    const Plan* plan = nullptr;
    const Diagnosis* diagnosis = nullptr;

    const Blame& blame() const { return *diagnosis->blame; }
};

/// Returns the title of a site: "block1.conv2 + bn2", "block1.conv2, weight", "lstm, inside".
std::string siteTitle(const WhyParts& parts, const NodeTitles& titles, const BlameSite& site);
/// Returns the titles of its consumers: "layer1.0 · add", "conv2, conv3 and 2 more"; "the output".
std::string siteReaders(const WhyParts& parts, const NodeTitles& titles, const BlameSite& site);

/// The document of `why --json`, two-space indent; "why" of a result document is the same object:
/// `{format, version, model, data, options, outputs[], samples, probes, measured, predicted,
/// measured_db, predicted_db, additivity, additive, units[], sites[], causes[], front[], qconfigs,
/// left_out[]}`. A site: `{title, node, module, op, kind, readers, output, at[], observer, share,
/// share_db, standard_error, exact, white, own_db, blocked, expected, part, part_error}`, the
/// greatest share first. A unit:
/// `{title, node, part, part_error}`: shares of the total noise.
std::string whyJson(const WhyParts& parts);
/// Points of a predicted front: `{int8_macs, db}`.
nlohmann::ordered_json frontJson(const std::vector<PredictedPoint>& front);
/// The same document as JSON.
nlohmann::ordered_json whyDocument(const WhyParts& parts);

/// Reads the section "why" of a result document for the same model and plan; profiles and stored
/// values of weights are not restored. Null if the document has no such section. Fails on an
/// invalid section, a node that the model does not have, or an unknown site or cause.
Result<DiagnosisPtr> diagnosisFromResult(const ResultDocument& document, const Graph& model,
                                         const Plan& plan);

} // namespace qs
