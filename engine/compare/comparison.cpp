// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/comparison.h"

#include "engine/base/text.h"
#include "engine/convert/form_errors.h"

#include <algorithm>

namespace qs {

std::string_view errorTermName(ErrorTerm term)
{
    static constexpr std::string_view kNames[]
        = {"born_here", "cumulative", "isolated", "inherited"};
    return kNames[int(term)];
}

const std::optional<ErrorMetrics>& NodeError::term(ErrorTerm which) const
{
    const std::optional<ErrorMetrics>* const terms[]
        = {&bornHere, &cumulative, &isolated, &inherited};
    return *terms[int(which)];
}

std::string standardErrorText(const ErrorMetrics& metrics)
{
    return metrics.standardErrorDb ? " ±" + fixedText(*metrics.standardErrorDb, 2) : std::string();
}

bool samplesLocalTerms(const Comparison& comparison)
{
    return std::any_of(
        comparison.nodes.begin(), comparison.nodes.end(),
        [](const NodeError& error) { return error.bornHere && error.bornHere->samples; });
}

namespace {

std::optional<double> dbOf(const std::optional<ErrorMetrics>& metrics)
{
    return metrics ? metrics->sqnrDb : std::nullopt;
}

} // namespace

const OutputError* WholeErrors::worstOutput() const
{
    const OutputError* worst = nullptr;
    std::optional<double> least;
    for (const OutputError& output : outputs) {
        const auto own = dbOf(output.lowered ? output.lowered : output.cumulative);
        if (!worst || (own && (!least || *own < *least))) {
            worst = &output;
            least = own;
        }
    }
    return worst;
}

std::optional<double> WholeErrors::loweredDb() const
{
    const OutputError* worst = worstOutput();
    return worst ? dbOf(worst->lowered) : std::nullopt;
}

std::optional<double> WholeErrors::referenceDb() const
{
    const OutputError* worst = worstOutput();
    return worst ? dbOf(worst->cumulative) : std::nullopt;
}

std::optional<double> WholeErrors::outputDb() const
{
    const auto lowered = loweredDb();
    return lowered ? lowered : referenceDb();
}

double FormDeparture::gainDb() const
{
    return referenceDb && loweredDb ? *loweredDb - *referenceDb : 0;
}

bool FormDeparture::isGap() const
{
    return referenceDb && loweredDb
        && (losesMore({*referenceDb, *loweredDb, steps.count})
            || losesMore({*loweredDb, *referenceDb, steps.count}));
}

const NodeError* Comparison::tryGet(NodeId id) const
{
    const auto it = std::find_if(nodes.begin(), nodes.end(),
                                 [&](const NodeError& error) { return error.node == id; });
    return it == nodes.end() ? nullptr : &*it;
}

StepCounts Comparison::departed() const
{
    StepCounts all;
    for (const FormDeparture& departure : departures)
        all.add(departure.steps);
    return all;
}

namespace {

template<class Holds>
const FormDeparture* firstOf(const std::vector<FormDeparture>& departures, Holds holds)
{
    const auto it = std::find_if(departures.begin(), departures.end(), holds);
    return it == departures.end() ? nullptr : &*it;
}

} // namespace

const FormDeparture* Comparison::parting() const
{
    return firstOf(departures, [](const FormDeparture& d) { return d.steps.largest > 1; });
}

const FormDeparture* Comparison::gap() const
{
    return firstOf(departures, [](const FormDeparture& d) { return d.isGap(); });
}

} // namespace qs
