// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/documents/result_writer.h"

#include <string>

namespace qs {

/// Formats the SQNR in dB; "exact" without noise, "-" without a number.
std::string dbText(const std::optional<ErrorMetrics>& metrics);

/// Formats the SQNR for a sentence: "34.52 dB", "exact", "nothing to measure" (no signal, or
/// integers).
std::string dbWords(const std::optional<ErrorMetrics>& metrics);

/// Formats how often the two models agree, as one line; empty without a figure.
std::string agreementText(const std::optional<Agreement>& agreement, std::int64_t samples);

/// Lists the samples that lost most, with the class that each model gives; empty without samples.
std::string samplesText(const SampleErrorsPtr& errors);

/// Formats a result: the error terms by layer with the five worst marked, the outputs, the labels,
/// the agreement, the coverage.
std::string resultText(const ResultParts& parts);

} // namespace qs
