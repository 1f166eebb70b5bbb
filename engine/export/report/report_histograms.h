// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/export/report/report_names.h"

#include <nlohmann/json.hpp>
#include <string>

namespace qs {

/// The histograms of `observations.npz` with the quantized ranges of the result document drawn in,
/// as HTML; empty where the folder holds no observations. The error says why the file is not
/// readable.
Result<std::string> histogramsHtml(const nlohmann::ordered_json& result, const ReportNames& titles,
                                   const std::string& folder);

} // namespace qs
