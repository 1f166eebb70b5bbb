// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/result/result_document.h"

#include <string>

namespace qs {

/// The module tree as a picture (inline SVG in HTML): a column a depth, a box a module as high as
/// it has operators, coloured by the worst SQNR born at one of its layers, which also
/// stands in it. Empty for a model without modules.
std::string moduleTreeHtml(const ResultDocument::Json& result);

} // namespace qs
