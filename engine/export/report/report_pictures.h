// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error_scale.h"
#include "engine/result/result_document.h"

namespace qs {

using ReportJson = ResultDocument::Json;

/// The colour scale of what is born at the nodes of a result.
ErrorScale bornScale(const ReportJson& result);
/// The class of the scale's colour ("s12"), or of text on it ("t12"); 0 is the best, 1 the worst.
std::string scaleClass(double badness, char kind = 's');
/// The rules of these classes on a light or a dark ground.
std::string scaleRules(bool dark);

// What a page draws, as its template wants it. All throw Json's exceptions where a result has not
// the form of one.

/// The boxes of the module tree: `{width, height, boxes[]}`; null without modules.
ReportJson treeValues(const ReportJson& result, const ErrorScale& scale);
/// A bar for each of the layers where most is lost, the worst first.
ReportJson worstValues(const ReportJson& result, const ErrorScale& scale);
/// Of a document's steps between two forms: `{share, mean, max, words, bars}`; empty for null.
ReportJson stepsValues(const ReportJson* steps);
/// What the observers saw, as `observations.npz` in the folder keeps it. Errors: that file cannot
/// be read; an observation is of a node that the result does not list.
Result<ReportJson> histogramValues(const ReportJson& result, const std::string& folder);

} // namespace qs
