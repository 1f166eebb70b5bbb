// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/certificate_rows.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/result/result_document.h"

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

std::string decibels(const std::optional<double>& value)
{
    if (!value)
        return {};
    return sqnrText(*value, 1, " dB");
}

/// The least value of a figure over all outputs; empty if no output has it.
std::optional<double> least(const std::vector<VerifiedOutput>& outputs,
                            std::optional<double> VerifiedOutput::*figure)
{
    std::optional<double> found;
    for (const VerifiedOutput& output : outputs)
        if (output.*figure)
            found = std::min(found.value_or(*(output.*figure)), *(output.*figure));
    return found;
}

std::string stepsLine(const VerifiedSteps& steps, const std::map<std::string, std::string>& notes)
{
    const auto cause = notes.find("cause");
    const bool told = cause != notes.end() && !cause->second.empty();
    return "of " + std::to_string(steps.equal + steps.one + steps.more)
        + " integers of the first call in " + counted(steps.nodes, "node") + " "
        + std::to_string(steps.one) + " are one step off, " + std::to_string(steps.more) + " more"
        + (steps.firstNode.empty() ? "" : ", the first of them at " + inQuotes(steps.firstNode))
        + (told ? " (" + cause->second + ")" : "");
}

std::string agreementOf(double db)
{
    return db >= kExactDb ? " exactly" : " to " + decibels(db);
}

std::string aloneLine(const AloneSteps& alone)
{
    return "fed our integers, each of " + counted(alone.nodes, "node") + " gives ours but for "
        + std::to_string(alone.one) + " of " + std::to_string(alone.elements) + " one step off ("
        + std::to_string(alone.ties) + " from halfway between two), " + std::to_string(alone.more)
        + " more"
        + (alone.choices > 0
               ? "; " + counted(alone.choices, "choice") + " among equal scores fell on others"
               : "")
        + (alone.outputDb ? "; outputs agree" + agreementOf(*alone.outputDb) : "");
}

std::vector<std::string> nodesApart(const VerifiedSteps& steps)
{
    std::vector<const NodeSteps*> apart;
    for (const NodeSteps& node : steps.byNode)
        if (node.largest > 0)
            apart.push_back(&node);
    std::stable_sort(apart.begin(), apart.end(), [](const NodeSteps* a, const NodeSteps* b) {
        return a->largest > b->largest;
    });
    std::vector<std::string> lines;
    for (const NodeSteps* node : apart) {
        const auto all = std::accumulate(node->bins.begin(), node->bins.end(), std::int64_t(0));
        lines.push_back(inQuotes(node->node) + ": " + std::to_string(all - node->bins[0]) + " of "
                        + counted(all, "integer") + " differ, by " + counted(node->largest, "step")
                        + " at most");
    }
    return lines;
}

CertificateRow rowOf(const RuntimeVerdict& verdict)
{
    using Outcome = RuntimeVerdict::Outcome;
    CertificateRow row;
    row.file = verdict.file;
    row.runtime = !verdict.runtime.empty()        ? verdict.runtime
        : verdict.outcome == Outcome::NotVerified ? "(none)"
                                                  : "(bytes)";
    row.verdict = verdict.outcome;
    row.outcome = verdict.outcome == Outcome::Failed ? "FAILED"
        : verdict.outcome == Outcome::Passed         ? "passed"
        : verdict.outcome == Outcome::NotCompared    ? "not compared"
        : verdict.outcome == Outcome::NotVerified    ? "NOT VERIFIED"
                                                     : "not run";
    row.isShown = !verdict.runtime.empty() || verdict.outcome != Outcome::Passed;
    row.agreement = decibels(least(verdict.outputs, &VerifiedOutput::agreementDb));
    row.there = decibels(least(verdict.outputs, &VerifiedOutput::floatDb));
    row.here = decibels(least(verdict.outputs, &VerifiedOutput::ownFloatDb));
    row.lines = verdict.warnings;
    if (!verdict.reason.empty())
        row.lines.push_back(verdict.reason);
    if (verdict.steps && verdict.steps->equal + verdict.steps->one + verdict.steps->more > 0)
        row.lines.push_back(stepsLine(*verdict.steps, verdict.notes));
    if (verdict.steps)
        row.nodesApart = nodesApart(*verdict.steps);
    if (verdict.alone)
        row.lines.push_back(aloneLine(*verdict.alone));
    const auto note = [&](const char* key) {
        const auto found = verdict.notes.find(key);
        return found == verdict.notes.end() ? std::string() : found->second;
    };
    const bool hasSteps = verdict.steps.has_value();
    if (verdict.outcome == Outcome::Passed && !hasSteps && !note("cause").empty())
        row.lines.push_back("differs by " + note("cause"));
    for (const char* key : {"needs", "kernels", "delegate", "outside", "compared", "inputs"})
        if (!note(key).empty())
            row.lines.push_back(note(key));
    if (verdict.speed)
        for (std::string& line : speedLines(*verdict.speed, hasDotProduct()))
            row.lines.push_back(std::move(line));
    return row;
}

} // namespace

std::string placeOf(const RuntimeVerdict& verdict)
{
    return verdict.file + (verdict.runtime.empty() ? "" : " in " + verdict.runtime);
}

std::vector<CertificateRow> certificateRows(const Certificate& certificate)
{
    std::vector<CertificateRow> rows;
    for (const RuntimeVerdict& verdict : certificate.verdicts)
        rows.push_back(rowOf(verdict));
    return rows;
}

std::string stateText(CallState state)
{
    if (state == CallState::None)
        return {};
    return state == CallState::Saved
        ? "the model keeps state: each call started from the state that the file holds, as the "
          "losses were measured; for calls that follow each other set \"sequence\": true under "
          "\"calibration\" in the recipe"
        : "the model keeps state: each call started from the state that the call before left "
          "(\"sequence\": true), as the losses were measured";
}

std::string failureText(const Certificate& certificate)
{
    if (certificate.passed())
        return {};
    using Outcome = RuntimeVerdict::Outcome;
    const auto count = [&](Outcome outcome) {
        return std::count_if(
            certificate.verdicts.begin(), certificate.verdicts.end(),
            [outcome](const RuntimeVerdict& verdict) { return verdict.outcome == outcome; });
    };
    const auto failed = count(Outcome::Failed), open = count(Outcome::NotVerified);
    const std::string unverified = counted(open, "export") + " not verified";
    if (failed > 0)
        return counted(failed, "check") + " failed" + (open > 0 ? ", " + unverified : "");
    return certificate.ran() ? unverified + ": no runtime executed " + (open > 1 ? "them" : "it")
                             : "no export could be run in any runtime";
}

} // namespace qs
