// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// Returns a readable size expression: "24*s77" for "Mul(Integer(24), Symbol('s77',
/// positive=True))", the form in .pt2 files (sympy's `srepr`). Unknown text is returned unchanged.
std::string symbolText(std::string_view expression);

} // namespace qs
