// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/ranges/storage_range.h"

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

/// A histogram over `data` on a logarithmic scale of counts. `held`, beyond which values saturate,
/// is shaded; `chosen`, which the scale was chosen for, is drawn as two lines where it is another.
struct HistogramPicture
{
    ValueEnds data, chosen, held;
    std::vector<double> counts;
};
std::string histogramSvg(const HistogramPicture& picture);

} // namespace qs
