// SPDX-License-Identifier: Apache-2.0
#include "engine/export/report/report_svg.h"

#include "engine/base/text.h"
#include "engine/export/report/report_style.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

std::string number(double value, int decimals = 1)
{
    return fixedText(value, decimals);
}

std::string rectangle(double x, double y, double width, double height, const char* cssClass)
{
    return "<rect class=\"" + std::string(cssClass) + "\" x=\"" + number(x) + "\" y=\"" + number(y)
        + "\" width=\"" + number(width) + "\" height=\"" + number(height) + "\"/>";
}

/// Merges neighbouring bins so that at most `wanted` columns are left.
std::vector<double> merged(const std::vector<double>& counts, std::size_t wanted)
{
    const std::size_t step = std::max<std::size_t>(1, (counts.size() + wanted - 1) / wanted);
    std::vector<double> columns((counts.size() + step - 1) / step, 0);
    for (std::size_t i = 0; i < counts.size(); ++i)
        columns[i / step] += counts[i];
    return columns;
}

} // namespace

std::string svgOpen(double width, double height)
{
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(width) + " "
        + number(height) + "\" width=\"" + number(width) + "\" height=\"" + number(height) + "\">";
}

std::string escapeHtml(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

std::string barChartSvg(const std::vector<Bar>& bars)
{
    constexpr double kRow = 20, kLabel = 330, kBars = 360, kNumber = 90;
    constexpr double kShortest = 0.12; // the best is still seen
    std::string svg = svgOpen(kLabel + kBars + kNumber, kRow * double(bars.size()) + 4);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const double top = kRow * double(i) + 2;
        const double badness = std::clamp(bars[i].badness, 0.0, 1.0);
        const double length = kBars * (kShortest + (1 - kShortest) * badness);
        svg += "<text class=\"label\" x=\"" + number(kLabel - 8) + "\" y=\"" + number(top + 13)
            + "\">" + escapeHtml(bars[i].label) + "</text>";
        svg += rectangle(kLabel, top + 2, length, kRow - 6, scaleClass(badness).c_str());
        svg += "<text x=\"" + number(kLabel + length + 6) + "\" y=\"" + number(top + 13) + "\">"
            + escapeHtml(bars[i].number) + "</text>";
    }
    return svg + "</svg>";
}

std::string histogramSvg(const HistogramPicture& picture)
{
    constexpr double kWidth = 260, kHeight = 70, kFoot = 14;
    const auto columns = merged(picture.counts, 130);
    const double most = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end());
    const auto [low, high] = drawnEnds(picture.data, picture.chosen, picture.held);
    const double span = high > low ? high - low : 1;
    const auto place = [&, low = low](double value) {
        return std::clamp(kWidth * (value - low) / span, 0.0, kWidth);
    };
    std::string svg = svgOpen(kWidth, kHeight + kFoot);
    const double left = place(picture.held.low);
    svg += rectangle(left, 0, place(picture.held.high) - left, kHeight, "range");
    const double width = columns.empty()
        ? 0
        : (place(picture.data.high) - place(picture.data.low)) / double(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i] <= 0 || most <= 0)
            continue;
        const double height = kHeight * std::log1p(columns[i]) / std::log1p(most);
        svg += rectangle(place(picture.data.low) + width * double(i), kHeight - height,
                         std::max(width, 0.5), height, "bin");
    }
    if (picture.chosen != picture.held)
        for (const double end : {picture.chosen.low, picture.chosen.high})
            svg += rectangle(std::min(place(end), kWidth - 1), 0, 1, kHeight, "chosen");
    svg += "<text x=\"0\" y=\"" + number(kHeight + 11) + "\">" + number(low, 3)
        + "</text><text class=\"label\" x=\"" + number(kWidth) + "\" y=\"" + number(kHeight + 11)
        + "\">" + number(high, 3) + "</text>";
    return svg + "</svg>";
}

} // namespace qs
