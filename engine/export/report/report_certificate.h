// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/export/report/report_names.h"
#include "engine/result/result_document.h"

#include <string>

namespace qs {

/// What was made of what and how it was checked, as HTML: hashes of the model, of the recipe and of
/// every export that lies in the folder, versions, device, data, the kernels' check, and what
/// `verify` found, where its certificate is of this result. The error (Io) names an export that
/// cannot be read.
Result<std::string> certificateHtml(const ResultDocument::Json& result, const ReportNames& titles,
                                    const std::string& folder);

} // namespace qs
