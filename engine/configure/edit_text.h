// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/cure.h"
#include "engine/configure/edit_step.h"

#include <functional>
#include <string>
#include <vector>

namespace qs {

/// Returns a display name for an operator of the file or an added one. If empty, `addressText`
/// names it.
using OperatorNames = std::function<std::string(const ValueAddress& address)>;

/// `editText` with the given operator names.
std::string editText(const EditStep& step, const OperatorNames& names);
/// `addressText` with the given operator names.
std::string addressText(const ValueAddress& address, const OperatorNames& names);
/// " for conv2d (input), output 0 of the model"; "" for all consumers.
std::string readersText(const std::vector<ReaderAddress>& readers, const OperatorNames& names);

/// The effect of a cure: "keep layer1.0 · conv2d float", "bound mask at 104".
std::string cureText(const Cure& cure, const OperatorNames& names = {});
/// The cure with all its attributes: "..., +4.2 dB, by tune 1f3a, off".
std::string cureLine(const Cure& cure, const OperatorNames& names = {});
/// Label of a rule created by a cure: "cure float (tune 1f3a)".
std::string cureMark(const Cure& cure);

} // namespace qs
