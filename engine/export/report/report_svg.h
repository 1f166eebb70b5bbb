// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace qs {

/// `text` with the characters that mean something in HTML written as entities.
std::string escapeHtml(const std::string& text);

/// The opening tag of a picture that stands in a page.
std::string svgOpen(double width, double height);

/// A bar with its number; as long and as yellow as what it shows is bad.
struct Bar
{
    std::string label, number;
    double badness = 0; ///< 0 = best, 1 = worst
};
/// Horizontal bars with labels and numbers.
std::string barChartSvg(const std::vector<Bar>& bars);

/// A histogram over [min, max] on a logarithmic scale of counts, with the quantized range
/// [quantLow, quantHigh] drawn in.
struct HistogramPicture
{
    double min = 0, max = 0;
    std::vector<double> counts;
    double quantLow = 0, quantHigh = 0;
};
std::string histogramSvg(const HistogramPicture& picture);

} // namespace qs
