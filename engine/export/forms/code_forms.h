// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/converted_model.h"
#include "engine/graph/code/code_calls.h"
#include "engine/graph/code/code_printer.h"

#include <array>
#include <optional>
#include <string_view>

namespace qs {

/// The forms of a model that can be printed as code.
enum class CodeForm : std::uint8_t
{
    Float,
    Prepared,
    Reference,
    Lowered
};
inline constexpr std::array<CodeForm, 4> kCodeForms {CodeForm::Float, CodeForm::Prepared,
                                                     CodeForm::Reference, CodeForm::Lowered};
std::string_view codeFormName(CodeForm form); ///< "float", "prepared", "reference", "lowered"
std::optional<CodeForm> codeFormFromName(std::string_view name);

/// The float model as code.
std::vector<CodeLine> floatCode(const Graph& model);
/// A form of a converted model as code. Quantized modules show scales and zero points, unless an
/// observer never ran.
std::vector<CodeLine> convertedCode(const ConvertedModel& converted, CodeForm form);
/// The names of modules, scales and zero points in the code of the lowered form.
CodeCalls loweredCalls(const ConvertedModel& converted);

} // namespace qs
