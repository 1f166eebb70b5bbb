// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_style.h"

#include "engine/base/decibels.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

/// Colours of the scale that a page knows by class: neighbours look the same.
constexpr int kSteps = 48;

/// Those of `Theme` in ui/style/theme.cpp; a test of the window compares them.
constexpr const char* kLight
    = "--ground:#ffffff;--head:#f3f5f9;--line:#d9dee7;--text:#1d2433;--muted:#5c677a;"
      "--accent:#2f6fed;--soft:#eaf0fe;--histogram:#7fa3e8;--quiet:#eef2fa";
constexpr const char* kDark
    = "--ground:#1f242e;--head:#171b23;--line:#343b49;--text:#e6e9f0;--muted:#9aa5b8;"
      "--accent:#6a9bff;--soft:#2a3a5c;--histogram:#5f86d0;--quiet:#202737";

constexpr const char* kRules
    = "body{font:14px/1.45 system-ui,sans-serif;color:var(--text);background:var(--ground);"
      "margin:2rem auto;max-width:78rem;padding:0 1rem}"
      "h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}"
      "table{border-collapse:collapse;width:100%;font-size:12.5px}"
      "th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid var(--line);"
      "vertical-align:top}th{position:sticky;top:0;background:var(--head)}"
      "td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
      "tr.float{color:var(--muted)}code{font-size:12px;color:var(--muted)}"
      "svg text{font-size:11px;fill:var(--muted)}svg text.label{text-anchor:end}"
      "svg .bin{fill:var(--histogram)}svg .range{fill:var(--soft)}svg .chosen{fill:var(--accent)}"
      "svg .done{fill:var(--soft)}svg .float{fill:var(--quiet)}"
      "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem}"
      "dt{color:var(--muted)}dd{margin:0}"
      ".figures{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem}figure{margin:0}"
      "figcaption{font-size:12px;color:var(--muted)}"
      ".scale{display:inline-block;width:12em;height:.6em}"
      ".dot{display:inline-block;width:.6em;height:.6em;margin-right:.5em}";

int stepOf(double badness)
{
    return int(std::lround(std::clamp(badness, 0.0, 1.0) * (kSteps - 1)));
}

std::string colourRules(bool dark)
{
    std::string css, stops;
    for (int i = 0; i < kSteps; ++i) {
        const Rgb colour = cividis(double(i) / (kSteps - 1), dark);
        const std::string step = std::to_string(i), fill = hexColour(colour);
        stops += "," + fill;
        css += ".s" + step + "{fill:" + fill + ";background:" + fill + "}svg text.t" + step
            + "{fill:" + hexColour(inkOn(colour)) + "}";
    }
    return css + ".scale{background:linear-gradient(to right" + stops + ")}";
}

} // namespace

std::string reportStyle()
{
    return std::string(":root{color-scheme:light dark;") + kLight + "}" + kRules
        + colourRules(false) + "@media(prefers-color-scheme:dark){:root{" + kDark + "}"
        + colourRules(true) + "}";
}

ErrorScale bornScale(const ResultDocument::Json& result)
{
    ErrorScale scale;
    for (const auto& node : result.at("nodes"))
        if (const auto db = errorTerm(node, ErrorTerm::BornHere))
            scale.include(*db);
    return scale;
}

std::string scaleClass(double badness)
{
    return "s" + std::to_string(stepOf(badness));
}

std::string scaleInkClass(double badness)
{
    return "t" + std::to_string(stepOf(badness));
}

std::string scaleLegendHtml(const ErrorScale& scale)
{
    return "<p>good " + sqnrText(scale.best(), 0, " dB") + " <span class=\"scale\"></span> worst "
        + sqnrText(scale.worst(), 0, " dB") + "</p>";
}

} // namespace qs
