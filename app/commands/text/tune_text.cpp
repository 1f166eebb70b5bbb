// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text/tune_text.h"

#include "app/commands/text/console.h"
#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/result/part_text.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Formats a metric; "-" if it is not finite.
std::string metricCell(double metric)
{
    return std::isfinite(metric) ? numberText(metric, 6) : "-";
}

std::string trialsText(const TuneState& state)
{
    const bool hasMetric = !state.trials.empty() && state.trials[0].guard.metric;
    const bool hasTimes = !state.trials.empty() && state.trials[0].ms;
    std::vector<std::string> titles {">trial",    "stage",     ">predicted dB",
                                     ">dB",       ">on guard", hasMetric ? ">metric" : ">cosine",
                                     ">int8 MACs"};
    if (hasTimes)
        titles.push_back(">ms");
    titles.insert(titles.end(), {">cures", ">forwards", ""});
    TextTable table(std::move(titles));
    for (std::size_t i = 0; i < state.trials.size(); ++i) {
        const Trial& trial = state.trials[i];
        std::vector<std::string> cells {std::to_string(i + 1),
                                        trial.stage,
                                        sqnrCell(trial.predictedDb),
                                        sqnrText(trial.search.db, 2),
                                        sqnrText(trial.guard.db, 2),
                                        trial.guard.metric ? metricCell(*trial.guard.metric)
                                                           : fixedText(trial.guard.cosine, 5),
                                        partText(trial.int8Macs)};
        if (hasTimes)
            cells.push_back(trial.ms ? numberText(*trial.ms, 3) : "-");
        cells.push_back(std::to_string(trial.cures.size() + (trial.floatNeedless ? 1 : 0)));
        cells.push_back(std::to_string(trial.forwards));
        cells.push_back(std::string(trial.reached ? "reached" : "")
                        + (i == state.best ? (trial.reached ? ", best" : "best") : ""));
        table.add(std::move(cells));
    }
    return table.text();
}

std::string placesText(const Cure& cure)
{
    std::string text = addressText(cure.at);
    for (const ValueAddress& more : cure.nodes)
        text += ", " + addressText(more);
    return text;
}

/// Formats the first cures that --keep-int8 excludes, as a table.
std::string barredText(const TuneRequest& request, const std::vector<BarredCure>& barred)
{
    constexpr std::size_t kMost = 10;
    TextTable table({"cure", ">predicted gain dB", ">int8 MACs", "at"});
    for (std::size_t i = 0; i < std::min(kMost, barred.size()); ++i)
        table.add({std::string(cureKindName(barred[i].cure.kind)),
                   "+" + fixedText(barred[i].gainDb, 2), "-" + partText(barred[i].int8Macs),
                   placesText(barred[i].cure)});
    return "Cures that --keep-int8 " + numberText(100 * request.keepInt8, 4)
        + " does not allow, each by itself\n\n" + table.text()
        + (barred.size() > kMost
               ? "and " + std::to_string(barred.size() - kMost) + " more; --json lists all\n"
               : "");
}

std::string cureLine(const Cure& cure)
{
    const std::string line = "  " + std::string(cureKindName(cure.kind)) + "  " + placesText(cure);
    return line + (cure.qconfig.empty() ? "" : "  as " + inQuotes(cure.qconfig)) + "\n";
}

} // namespace

std::string tuneText(const TuneRequest& request, const TuneState& state)
{
    std::string text = "Goal: " + goalText(request.goal) + ", at least "
        + partText(request.keepInt8) + " of the multiplications in int8; "
        + counted(state.searchSamples, "sample") + " searched, "
        + std::to_string(state.guardSamples) + " kept as guard.\n\n" + trialsText(state) + "\n";
    const Trial& best = state.trials.at(state.best);
    if (!best.cures.empty() || best.floatNeedless) {
        text += "Cures of the best trial\n";
        for (const Cure& cure : best.cures)
            text += cureLine(cure);
        if (best.floatNeedless)
            text += "  results that only float operators read stay float (needless_outputs)\n";
        text += "\n";
    }
    for (const std::string& note : state.notes)
        text += "Note: " + note + ".\n";
    if (!best.reached && !state.barred.empty())
        text += barredText(request, state.barred) + "\n";
    if (!best.reached && !state.remaining.empty()) {
        text += "What is left of the noise\n";
        for (const RemainingNoise& one : state.remaining)
            text += "  " + partText(one.share) + "  " + one.node + ": "
                + std::string(causeWords(one.cause)) + "\n";
        if (state.neededInt8)
            text += "The goal is predicted with " + partText(*state.neededInt8)
                + " of the multiplications in int8; " + partText(request.keepInt8)
                + " are asked for.\n";
    }
    text += (best.reached ? "Reached: " : "Missed: best ") + sqnrText(best.guard.db, 2, " dB")
        + " on the guard with " + partText(best.int8Macs) + " of the multiplications in int8; "
        + state.stopped + ".\n";
    return text;
}

} // namespace qs
