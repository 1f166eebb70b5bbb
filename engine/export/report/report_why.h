// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/report/report_names.h"
#include "engine/result/result_document.h"

#include <string>
#include <unordered_map>

namespace qs {

/// The section "What was wrong and what mended it": causes of the outputs' noise with their
/// figures, and the cures of the recipe; "" for a result with neither.
std::string whyHtml(const ResultDocument::Json& result, const ReportNames& titles);

/// Each unit's share of the outputs' noise, from the result document.
class NoiseShares
{
public:
    explicit NoiseShares(const ResultDocument::Json& result);
    bool empty() const { return m_texts.empty(); }
    /// Of the node of that name in the result: "12.5 ± 0.8 %"; "-" without a share.
    std::string of(const std::string& node) const;

private:
    std::unordered_map<std::string, std::string> m_texts;
};

} // namespace qs
