// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A number as messages show it: `digits` significant digits, no trailing zeros. Nine digits
/// distinguish any two float32.
std::string numberText(double value, int digits = 9);
/// A number with that many decimals.
std::string fixedText(double value, int decimals);
/// "640 B", "12.3 MB": a thousand of each are one of the next.
std::string bytesText(double bytes);
/// "1 batch", "2 batches": a regular noun in the number that goes with the count.
std::string counted(std::int64_t count, const std::string& noun);
/// 'text': how messages quote what the user named.
std::string inQuotes(const std::string& text);
/// "'a', 'b' and 3 more": the first names alone where there are many.
std::string quotedNames(const std::vector<std::string>& names);
/// Of a dotted name what follows the last dot: "Conv2d" of "torch.nn.Conv2d".
std::string lastPart(std::string_view name);
/// A part of the text: without the characters of `ends` at both ends.
std::string_view trimmed(std::string_view text, std::string_view ends = " \t\r\n");
/// The text as it may reach a terminal: control characters, those that change the direction of
/// writing and bytes that are not UTF-8 become '?'; line ends and tabs stay.
std::string printable(std::string text);
/// The same as one line of some four thousand bytes at most: of a longer one the middle is left
/// out.
std::string asOneLine(std::string text);
/// Its first `longest` bytes and "..." where it is longer.
std::string shortened(std::string text, std::size_t longest);
/// `text` with the characters that mean something in HTML written as entities.
std::string escapeHtml(const std::string& text);

} // namespace qs
