// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

struct PythonArgument;

/// A value as printed by Python, limited to what quantization settings contain: numbers, words,
/// objects in angle brackets, calls with keyword arguments.
struct PythonValue
{
    enum class Kind : std::uint8_t
    {
        Constant, ///< number, string, True, False, None: in `constant`
        Name, ///< a dotted name: "torch.quint8"
        Object, ///< "<class 'a.B'>", "<function f at 0x7f>", as printed
        Call ///< `callee(args)`; functools.partial and with_args are resolved
    };
    Kind kind = Kind::Constant;
    Json constant;
    std::string text; ///< text of a name or object; for a call: the name of the callee
    std::vector<PythonArgument> arguments; ///< of a call
};

/// One argument of a call.
struct PythonArgument
{
    std::string name; ///< "" = positional
    PythonValue value;
};

/// Parses a complete text, such as "functools.partial(<class
/// 'torch.ao.quantization.observer.MinMaxObserver'>, quant_min=0){}" or
/// "DTypeWithConstraints(dtype=torch.quint8, quant_min_lower_bound=None)". The error describes the
/// fault and its character position.
Result<PythonValue> readPythonValue(const std::string& text);

/// Returns "a.B" for "<class 'a.B'>"; other texts unchanged.
std::string classNameOf(const std::string& printed);

} // namespace qs
