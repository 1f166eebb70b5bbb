// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// A size expression for people: "Mul(Integer(24), Symbol('s77', positive=True))", which is how
/// .pt2 files spell it (sympy's `srepr`), becomes "24*s77". Unknown text stays.
std::string symbolText(std::string_view expression);

} // namespace qs
