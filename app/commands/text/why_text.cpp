// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text/why_text.h"

#include "app/commands/text/console.h"
#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/result/part_text.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace qs {

namespace {

std::string percent(double part, double whole)
{
    return whole > 0 ? partText(part / whole) : "-";
}

/// Returns a line on how reliable the table is: whether the shares add up.
std::string additivityText(const Blame& blame)
{
    const auto additivity = blame.additivity();
    if (!additivity)
        return "";
    std::string text
        = "The shares add up to " + fixedText(100 * *additivity, 0) + " % of the noise";
    if (!blame.isAdditive())
        text += ": the causes overlap or the model is far from linear here. Sites with \"alone\" "
                "were measured";
    return text + ".\n";
}

/// Returns "94.5 % where values are quantized for operators that do not multiply, ...".
std::string classesText(const Blame& blame, double all)
{
    double multiplied = 0, other = 0, returned = 0, weights = 0, inside = 0;
    for (const SiteBlame& blamed : blame.sites) {
        const BlameSite& site = blamed.site;
        double& sum = site.kind == BlameSite::Kind::Weight ? weights
            : site.kind == BlameSite::Kind::Interior       ? inside
            : site.readers == ReaderClass::Multiplies      ? multiplied
            : site.readers == ReaderClass::Output          ? returned
                                                           : other;
        sum += blamed.expected;
    }
    std::vector<std::pair<double, std::string>> parts {
        {other, "where values are quantized for operators that do not multiply"},
        {multiplied, "at the inputs of convolutions, linears and products"},
        {weights, "in weights"},
        {inside, "inside recurrent layers"},
        {returned, "at the outputs"}};
    std::sort(parts.begin(), parts.end(), std::greater<>());
    std::string text;
    for (const auto& [sum, words] : parts)
        if (sum > 0)
            text += (text.empty() ? "Born " : ", ") + percent(sum, all) + " " + words;
    return text.empty() ? "" : text + ".\n";
}

/// Lists the proposed cures of a cause: kind and place of each.
std::string curesText(const Cause& cause)
{
    std::string text;
    for (const Proposal& proposal : cause.proposals)
        text += (text.empty() ? "cure: " : ", or ") + std::string(cureKindName(proposal.cure.kind))
            + " at " + addressText(proposal.cure.at)
            + (proposal.cure.nodes.empty()
                   ? ""
                   : " and " + counted(proposal.cure.nodes.size(), "more operator"));
    return text;
}

std::string causesText(const WhyParts& parts, const NodeTitles& titles, std::size_t top,
                       const std::string& all)
{
    std::string text;
    const std::vector<Cause>& causes = parts.diagnosis->causes;
    for (std::size_t i = 0; i < std::min(top, causes.size()); ++i) {
        const Cause& cause = causes[i];
        const BlameSite& site = parts.blame().sites.at(cause.site).site;
        text += percent(cause.share, 1) + "  " + siteTitle(parts, titles, site) + ": "
            + std::string(causeWords(cause.code)) + " (" + std::string(causeName(cause.code))
            + ")\n";
        for (const std::string& line : cause.evidence)
            text += "        " + line + "\n";
        if (const std::string cures = curesText(cause); !cures.empty())
            text += "        " + cures + "\n";
    }
    if (causes.size() > top)
        text += "and " + counted(causes.size() - top, "more cause") + " (" + all + ")\n";
    return text.empty() ? "" : "Causes\n" + text + "\n";
}

} // namespace

std::string whyText(const WhyParts& parts, std::size_t top, const std::string& all)
{
    const Blame& blame = parts.blame();
    const NodeTitles titles(*parts.model);
    std::string text = "Output noise: " + sqnrText(shareDb(blame.measured), 2, " dB")
        + " measured, " + sqnrText(shareDb(blame.predicted), 2, " dB") + " predicted ("
        + counted(blame.samples, "sample") + ", " + counted(blame.sites.size(), "site") + ").\n"
        + additivityText(blame);
    const double whole = expectedNoise(blame);
    text += classesText(blame, whole) + "\n" + causesText(parts, titles, top, all);
    const bool isMeasured = std::any_of(blame.sites.begin(), blame.sites.end(),
                                        [](const SiteBlame& site) { return site.exact; });
    std::vector<std::string> columns {">share", ">dB alone"};
    if (isMeasured)
        columns.push_back(">measured");
    columns.insert(columns.end(), {">own dB", "quantized", "read by"});
    TextTable table(columns);
    const std::size_t shown = std::min(top, blame.sites.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const SiteBlame& site = blame.sites[i];
        std::vector<std::string> cells {percent(site.expected, whole),
                                        site.blocked ? "-" : sqnrText(shareDb(site.share), 2)};
        if (isMeasured)
            cells.push_back(site.exact ? sqnrText(shareDb(*site.exact), 2) : "-");
        cells.insert(cells.end(),
                     {sqnrCell(site.ownDb), siteTitle(parts, titles, site.site),
                      siteReaders(parts, titles, site.site)});
        table.add(std::move(cells));
    }
    text += table.text();
    if (shown < blame.sites.size())
        text += "and " + std::to_string(blame.sites.size() - shown) + " more (" + all + ")\n";
    for (const std::string& line : blame.leftOut)
        text += line + "\n";
    return text;
}

} // namespace qs
