// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace qs {

/// Limit of decibels in both directions: no noise, or no signal left.
inline constexpr double kExactDb = 200;

/// SQNR = 10 log10(signal / noise) of two sums of squares, within ±kExactDb. `signal` must be
/// above 0.
double decibelsOf(double signal, double noise);

/// Returns "34.52", or "exact" without noise. With unit " dB": "34.52 dB", "exact".
std::string sqnrText(double db, int decimals, const char* unit = "");
/// The same for a table cell: two decimals, "-" if not measured.
std::string sqnrCell(const std::optional<double>& db);

} // namespace qs
