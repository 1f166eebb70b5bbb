// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// The text in double quotes, with \" \\ \n \t \r and \xNN escapes.
std::string quotedLiteral(std::string_view text);
/// The shortest text that reads back as the same double; always with a point, an exponent, or one
/// of inf, -inf, nan.
std::string doubleText(double value);
/// A name as the text form writes it: unquoted if it consists of letters, digits and underscores,
/// else quoted.
std::string nameText(std::string_view name);

} // namespace qs
