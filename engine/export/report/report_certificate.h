// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/report/report_pictures.h"

#include <unordered_map>

namespace qs {

/// Titles of a result's nodes, by name.
using ReportTitles = std::unordered_map<std::string, std::string>;
/// The title of the node of that name; the name itself where it has none.
std::string titleIn(const ReportTitles& titles, const std::string& name);

// What was made of what and how it was checked, as the page's template wants it.

/// Hashes of the model, of the recipe and of every export that lies in the folder. The error (Io)
/// names an export that cannot be read.
Result<ReportJson> fileValues(const ReportJson& result, const std::string& folder);
/// The kernels of the lowered form that were held against the reference form: `{text, refused[]}`,
/// nodes.
ReportJson kernelValues(const ReportJson& result);
/// What `verify` found: null where the folder has no certificate of this result.
ReportJson certificateValues(const std::string& folder, const ReportTitles& titles);

} // namespace qs
