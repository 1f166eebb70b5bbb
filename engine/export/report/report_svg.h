// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace qs {

/// `text` with the characters that mean something in HTML written as entities.
std::string escapeHtml(const std::string& text);

/// The opening tag of a picture that stands in a page.
std::string svgOpen(double width, double height);

struct Bar
{
    std::string label;
    double value = 0;
};
/// Horizontal bars with labels and numbers, from zero to the largest value; `unit` follows each
/// number.
std::string barChartSvg(const std::vector<Bar>& bars, const std::string& unit);

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
