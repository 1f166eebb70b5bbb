// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text/result_text.h"

#include "app/commands/model/planned_model.h"
#include "app/commands/text/console.h"
#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/calibrate/convergence/convergence.h"
#include "engine/convert/ranges/scale_bounds.h"
#include "engine/convert/ranges/shared_ranges.h"
#include "engine/export/documents/forms_text.h"
#include "engine/plan/names/unit_title.h"
#include "engine/plan/summaries/coverage.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

constexpr std::size_t kMarked = 5;
constexpr std::ptrdiff_t kSamplesColumn = 6; ///< index of the column after the three sampled terms

/// Returns the nodes with the worst errors born at them, with their rank from 1.
std::map<NodeId, std::size_t> worstNodes(const Comparison& comparison)
{
    std::vector<std::pair<double, NodeId>> losses;
    for (const NodeError& error : comparison.nodes)
        if (error.bornHere && error.bornHere->sqnrDb && *error.bornHere->sqnrDb < kExactDb)
            losses.emplace_back(*error.bornHere->sqnrDb, error.node);
    std::stable_sort(losses.begin(), losses.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::map<NodeId, std::size_t> ranks;
    for (std::size_t i = 0; i < losses.size() && i < kMarked; ++i)
        ranks.emplace(losses[i].second, i + 1);
    return ranks;
}

/// Returns the kernel of a lowered node, or why it was not lowered.
std::string kernelText(const ResultParts& parts, NodeId node)
{
    if (!parts.converted)
        return "-";
    for (const Residue& left : parts.converted->residue)
        if (left.node == node && left.kind == Residue::Kind::Unlowered)
            return "reference form: " + left.reason;
    for (const KernelCheck& check : parts.converted->checks)
        if (check.node == node)
            return check.kernel;
    return "-";
}

std::string layersText(const ResultParts& parts)
{
    const auto ranks = worstNodes(*parts.comparison);
    const NodeTitles titles(*parts.model);
    const bool isSampled = samplesLocalTerms(*parts.comparison);
    std::vector<std::string> titlesOf {">worst",     "layer",      "verdict",     ">isolated",
                                       ">inherited", ">born here", ">cumulative", "kernel"};
    if (isSampled)
        titlesOf.insert(titlesOf.begin() + kSamplesColumn, ">samples");
    TextTable table(std::move(titlesOf));
    for (const NodeError& error : parts.comparison->nodes) {
        const Node& node = parts.model->get(error.node);
        const NodePlan* plan = parts.plan->tryGet(*parts.model, error.node);
        const auto rank = ranks.find(error.node);
        std::vector<std::string> cells {rank == ranks.end() ? "" : std::to_string(rank->second),
                                        unitTitle(titles, *parts.plan, plan, node),
                                        plan ? std::string(verdictName(plan->verdict)) : "-",
                                        dbText(error.isolated),
                                        dbText(error.inherited),
                                        dbText(error.bornHere),
                                        dbText(error.cumulative),
                                        kernelText(parts, error.node)};
        if (isSampled) {
            const auto samples = error.bornHere ? error.bornHere->samples : std::nullopt;
            cells.insert(cells.begin() + kSamplesColumn,
                         samples              ? std::to_string(*samples)
                             : error.bornHere ? "all"
                                              : "-");
        }
        table.add(std::move(cells));
    }
    return (parts.comparison->againstOriginal
                ? (parts.model->info().trained
                       ? "Signal to noise in dB against the original model, before its training, "
                         "layer by layer: training and quantization together\n\n"
                       : "Signal to noise in dB against the original model, before its edits, "
                         "layer "
                         "by layer: edits and quantization together\n\n")
                : "Signal to quantization noise in dB, layer by layer; 'worst' ranks by the error "
                  "born here\n\n")
        + (isSampled ? "isolated, inherited and born here are measured on 'samples' of "
                   + counted(parts.comparison->samples, "sample")
                   + ", ± their standard error; --local-terms all measures them on all\n\n"
                     : "")
        + table.text();
}

} // namespace

std::string dbText(const std::optional<ErrorMetrics>& metrics)
{
    return sqnrCell(metrics ? metrics->sqnrDb : std::nullopt)
        + (metrics ? standardErrorText(*metrics) : "");
}

std::string dbWords(const std::optional<ErrorMetrics>& metrics)
{
    return metrics && metrics->sqnrDb ? sqnrText(*metrics->sqnrDb, 2, " dB") : "nothing to measure";
}

std::string agreementText(const std::optional<Agreement>& agreement, std::int64_t samples)
{
    return agreement
        ? "agreement: the same top-1 of output " + agreement->output + " in both models for "
            + fixedText(100 * agreement->top1, 2) + " % of " + counted(samples, "sample") + "\n"
        : std::string();
}

namespace {

/// Lists shared ranges that cost precision, worst first.
std::string sharedText(const ResultParts& parts)
{
    constexpr std::size_t kShown = 8;
    if (!parts.converted || !parts.observations)
        return {};
    const auto shared
        = sharedRanges(*parts.converted->prepared, parts.converted->qparams, *parts.observations);
    std::string text;
    for (std::size_t i = 0; i < std::min(shared.size(), kShown); ++i)
        text += "shared range: " + shared[i].text + "\n";
    if (shared.size() > kShown)
        text += "shared range: " + std::to_string(shared.size() - kShown)
            + " more, see \"findings\" in result.json\n";
    return text;
}

/// Lists scales beyond the backend's bounds.
std::string boundsText(const ResultParts& parts)
{
    std::string text;
    if (parts.converted)
        for (const PlanFinding& finding :
             scaleBoundFindings(*parts.model, *parts.plan, parts.converted->qparams))
            text += "scale bound: " + finding.text + "\n";
    return text;
}

/// Reports whether more calibration data would change the ranges.
std::string convergenceText(const ResultParts& parts)
{
    if (!parts.observations)
        return {};
    const auto hint
        = convergenceHint(convergenceOf(*parts.observations, *parts.model, *parts.plan));
    return hint ? "calibration: " + hintText(*hint) + "\n" : std::string();
}

/// Lists quantize-dequantize pairs that cost precision and save nothing.
std::string deadPairsText(const ResultParts& parts)
{
    constexpr std::size_t kShown = 8;
    if (!parts.converted)
        return {};
    std::string text;
    std::size_t found = 0;
    for (const Residue& left : parts.converted->residue)
        if (left.kind == Residue::Kind::DeadPair && found++ < kShown)
            text += "dead pair: " + inQuotes(left.name)
                + (left.node ? " after " + inQuotes(nodeTitle(*parts.model, left.node)) : "") + ": "
                + left.reason + "\n";
    if (found > kShown)
        text += "dead pair: " + std::to_string(found - kShown)
            + " more, see \"residue\" in result.json\n";
    return text;
}

} // namespace

std::string samplesText(const SampleErrorsPtr& errors)
{
    constexpr std::size_t kShown = 5;
    if (!errors || errors->worst.empty())
        return {};
    const bool hasClasses = errors->classes.has_value();
    const bool hasLabels = hasClasses && !errors->classes->labelFloat.empty();
    const auto cell = [](const auto& of) { return of ? std::to_string(*of) : std::string("-"); };
    std::vector<std::string> titles {">worst sample", ">dB"};
    if (hasLabels)
        titles.push_back(">label");
    if (hasClasses)
        titles.insert(titles.end(), {">float", ">int8", ""});
    TextTable table(std::move(titles));
    for (std::size_t i = 0; i < std::min(errors->worst.size(), kShown); ++i) {
        const SampleRecord& record = errors->worst[i];
        std::vector<std::string> cells {std::to_string(record.index), sqnrCell(record.sqnrDb)};
        if (hasLabels)
            cells.push_back(cell(record.label));
        if (hasClasses)
            cells.insert(cells.end(),
                         {cell(record.floatClass), cell(record.int8Class),
                          record.isChanged ? "changed" : ""});
        table.add(std::move(cells));
    }
    return "The samples that lost most at output " + errors->output
        + (hasClasses ? ", with the class that each model gives" : "") + "\n\n" + table.text()
        + "\n";
}

std::string resultText(const ResultParts& parts)
{
    std::string text;
    if (parts.comparison) {
        text += layersText(parts) + "\n" + samplesText(parts.comparison->sampleErrors);
        for (const OutputError& output : parts.comparison->outputs)
            text += "output " + output.name + ": " + dbWords(output.cumulative)
                + " in the reference form, " + dbWords(output.lowered) + " lowered"
                + (output.forms ? ", " + dbWords(output.forms) + " between them" : "") + "\n";
        for (const std::string& line : parts.comparison->unpaired)
            text += line + "\n";
        for (const std::string& line : formsLines(*parts.model, *parts.comparison, parts.converted))
            text += "forms: " + line + "\n";
        text += sharedText(parts);
        const auto& comparison = *parts.comparison;
        if (comparison.floatTop1 && comparison.int8Top1)
            text += "labels: top-1 " + fixedText(100 * *comparison.floatTop1, 2) + " % float, "
                + fixedText(100 * *comparison.int8Top1, 2) + " % int8, "
                + counted(comparison.samples, "sample") + "\n";
        text += agreementText(comparison.agreement, comparison.samples);
        if (!parts.comparisonData.empty())
            text += "compared on: " + parts.comparisonData + ", "
                + counted(comparison.samples, "sample") + "\n";
    }
    text += boundsText(parts) + deadPairsText(parts) + convergenceText(parts);
    if (parts.evaluation)
        text += "your metric, float: " + fixedText(parts.evaluation->floating, 6)
            + "\nyour metric, int8: " + fixedText(parts.evaluation->int8, 6) + "\n";
    text += "coverage: " + coverageOf(*parts.plan).text() + " (backend " + parts.plan->backend
        + ")\n";
    return text;
}

} // namespace qs
