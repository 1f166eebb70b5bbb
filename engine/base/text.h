// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Formats a number for messages: `digits` significant digits, no trailing zeros. Nine digits
/// distinguish any two float32.
std::string numberText(double value, int digits = 9);
/// Formats a number with that many decimals.
std::string fixedText(double value, int decimals);
/// Formats bytes: "640 B", "12.3 MB", in powers of 1000.
std::string bytesText(double bytes);
/// "1 batch", "2 batches": count and noun, in singular or plural.
std::string counted(std::int64_t count, const std::string& noun);
/// Quotes a user's name for messages: 'text'.
std::string inQuotes(const std::string& text);
/// "'a', 'b' and 3 more": only the first names if there are many.
std::string quotedNames(const std::vector<std::string>& names);
/// Returns the part after the last dot: "Conv2d" of "torch.nn.Conv2d".
std::string lastPart(std::string_view name);
/// Returns a view of the text without the characters of `ends` at both ends.
std::string_view trimmed(std::string_view text, std::string_view ends = " \t\r\n");
/// Makes a text safe for a terminal: control characters, bidirectional controls and invalid UTF-8
/// become '?'; line breaks and tabs are kept.
std::string printable(std::string text);
/// The same as one line of about four thousand bytes at most; the middle of a longer text is
/// omitted.
std::string asOneLine(std::string text);
/// Returns the first `longest` bytes and "..." if the text is longer.
std::string shortened(std::string text, std::size_t longest);
/// Escapes HTML's special characters as entities.
std::string escapeHtml(const std::string& text);

} // namespace qs
