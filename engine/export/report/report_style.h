// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error_scale.h"
#include "engine/result/result_document.h"

#include <string>

namespace qs {

/// The style sheet of a report: the window's colours, light or dark as the reader's system is.
std::string reportStyle();

/// The colour scale of what is born at the nodes of a result.
ErrorScale bornScale(const ResultDocument::Json& result);
/// The class that fills a shape with the scale's colour ("s12"); 0 is the best, 1 the worst.
std::string scaleClass(double badness);
/// The class of text on that colour ("t12").
std::string scaleInkClass(double badness);
/// The scale with its ends in words, the good one left, as in the window's legend.
std::string scaleLegendHtml(const ErrorScale& scale);

} // namespace qs
