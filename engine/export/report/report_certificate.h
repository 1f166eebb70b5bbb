// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/report/report_pictures.h"

#include <unordered_map>

namespace qs {

/// Titles of a result's nodes, by name.
using ReportTitles = std::unordered_map<std::string, std::string>;
/// The title of the node called `name`; `name` itself if it has no title.
std::string titleIn(const ReportTitles& titles, const std::string& name);

// Values for the page's template: which files the result was made from, and how it was checked.

/// SHA-256 of the model, of the recipe and of each export, as `{what, name, sha256}`; an export
/// that is missing from the folder says so in place of its hash. Fails (Io) if an export cannot be
/// read, and names it.
Result<ReportJson> fileValues(const ReportJson& result, const std::string& folder);
/// Checks of the lowered form's kernels against the reference form: `{text, refused[]}`, where
/// `text` is a sentence and `refused` lists the nodes whose kernel failed.
ReportJson kernelValues(const ReportJson& result);
/// The certificate that `verify` wrote, with texts for the page added. Null if the folder has no
/// certificate of this result, or the certificate is not valid.
ReportJson certificateValues(const std::string& folder, const ReportTitles& titles);

} // namespace qs
