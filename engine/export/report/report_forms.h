// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/report/report_names.h"
#include "engine/result/result_document.h"

#include <string>

namespace qs {

/// The section on the simulated and the real model: node by node how far the lowered form is from
/// the reference form, and what stayed in reference form; "" where neither was measured.
std::string formsHtml(const ResultDocument::Json& result, const ReportNames& titles);

} // namespace qs
