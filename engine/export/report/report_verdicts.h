// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/report/report_names.h"

#include <string>

namespace qs {

/// What `verify` found in the runtimes, as HTML: a row for each file and runtime with what there is
/// to say of it, and behind each the nodes whose integers differ, by steps. Where the folder holds
/// no certificate of this very result: how to make one.
std::string verdictsHtml(const std::string& folder, const ReportNames& titles);

} // namespace qs
