// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error_scale.h"
#include "engine/result/result_document.h"

namespace qs {

using ReportJson = ResultDocument::Json;

/// Colour scale over the errors that the nodes of a result add themselves (`born_here`, in dB).
ErrorScale bornScale(const ReportJson& result);
/// CSS class of a colour of the scale ("s12"), or of text on that colour (`kind` 't': "t12").
/// `badness`: 0 is best, 1 worst; other values are clamped.
std::string scaleClass(double badness, char kind = 's');
/// CSS rules of these classes for a light or a dark background.
std::string scaleRules(bool dark);

// Figures as values for the page's template. All throw Json's exceptions if the result does not
// have the layout of a result document.

/// Boxes of the module tree in SVG units: `{width, height, boxes[]}`; null without modules.
ReportJson treeValues(const ReportJson& result, const ErrorScale& scale);
/// One bar for each of the nodes with the lowest SQNR (12 at most), worst first.
ReportJson worstValues(const ReportJson& result, const ErrorScale& scale);
/// Figures of a document's step counts between two forms: `{share, mean, max, words, bars}`; an
/// empty object for null. Rounding never reports a smaller difference than there is.
ReportJson stepsValues(const ReportJson* steps);
/// Histograms of observed values from `observations.npz` in the folder; empty without that file.
/// Fails if the file cannot be read, or an observation names a node that the result does not list.
Result<ReportJson> histogramValues(const ReportJson& result, const std::string& folder);

} // namespace qs
