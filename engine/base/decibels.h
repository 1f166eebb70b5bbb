// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace qs {

/// Limit of decibels in both directions: nothing was lost, or nothing was left.
inline constexpr double kExactDb = 200;

/// SQNR = 10 log10(signal / noise) of two sums of squares, within ±kExactDb. `signal` must be
/// above 0.
double decibelsOf(double signal, double noise);

/// "34.52", or "exact" where nothing was lost. With a unit " dB" as well: "34.52 dB", "exact".
std::string sqnrText(double db, int decimals, const char* unit = "");
/// The same for a table: two decimals, "-" where nothing was measured.
std::string sqnrCell(const std::optional<double>& db);

} // namespace qs
