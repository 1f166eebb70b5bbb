// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/forms_text.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/result/result_document.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

std::string apartText(const StepCounts& steps)
{
    return "mean " + stepsText(steps.mean()) + ", at most " + stepsText(steps.largest) + " steps";
}

/// Clause with the error that the node's kernel adds to that of its inputs; "" if not known.
std::string aloneText(NodeId node, const ConvertedModel* converted)
{
    if (!converted)
        return {};
    const auto check = std::find_if(converted->checks.begin(), converted->checks.end(),
                                    [&](const KernelCheck& c) { return c.node == node; });
    if (check == converted->checks.end() || !check->passed)
        return "; it runs in reference form, so the difference comes from its inputs";
    if (check->steps.count == 0)
        return "; its kernel is " + check->kernel;
    return "; its kernel " + check->kernel
        + " alone, run on the reference form's inputs: " + apartText(check->steps);
}

/// Samples over which integers were compared. Outputs are compared over all samples.
std::string integerSamples(const Comparison& comparison)
{
    const std::int64_t seen = comparison.departureSamples;
    return seen == comparison.samples
        ? counted(seen, "sample")
        : "the first " + std::to_string(seen) + " of " + counted(comparison.samples, "sample");
}

std::string wholeText(const Comparison& comparison)
{
    const auto apart = outputsApart(comparison);
    const std::string outputs = !apart ? ""
        : *apart >= kExactDb
        ? "the outputs of both forms are the same; "
        : "the outputs of both forms agree to " + fixedText(*apart, 1) + " dB; ";
    return outputs + shareText(comparison.departed()) + " of all integers are equal, over "
        + integerSamples(comparison);
}

} // namespace

std::string shareText(const StepCounts& steps)
{
    return fixedText(std::floor(steps.equalShare() * 1e5) / 1e3, 3) + " %";
}

std::string stepsText(double steps)
{
    return std::isfinite(steps) ? numberText(std::ceil(steps * 1e4) / 1e4) : "not finite";
}

std::optional<double> outputsApart(const Comparison& comparison)
{
    std::optional<double> least;
    for (const OutputError& output : comparison.outputs)
        if (output.forms && output.forms->sqnrDb)
            least = std::min(least.value_or(*output.forms->sqnrDb), *output.forms->sqnrDb);
    return least;
}

std::vector<std::string> formsLines(const Graph& model, const Comparison& comparison,
                                    const ConvertedModel* converted)
{
    if (comparison.departures.empty())
        return {};
    std::vector<std::string> lines {wholeText(comparison)};
    const FormDeparture* parting = comparison.parting();
    const Node* first = parting ? model.tryGet(parting->node) : nullptr;
    lines.push_back(
        first ? "the first node that differs by more than one step is " + inQuotes(first->name)
                + ": " + apartText(parting->steps) + aloneText(first->id, converted)
              : "no node differs by more than one step, over " + integerSamples(comparison));
    const FormDeparture* gap = comparison.gap();
    if (const Node* from = gap ? model.tryGet(gap->node) : nullptr)
        lines.push_back(std::string("the lowered form ") + (gap->gainDb() > 0 ? "gains " : "loses ")
                        + fixedText(std::abs(gap->gainDb()), 1) + " dB first at "
                        + inQuotes(from->name) + ": " + fixedText(*gap->loweredDb, 1)
                        + " dB of the float model, " + fixedText(*gap->referenceDb, 1)
                        + " dB in the reference form" + aloneText(from->id, converted));
    return lines;
}

} // namespace qs
