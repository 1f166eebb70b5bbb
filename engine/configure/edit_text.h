// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/cure.h"
#include "engine/configure/edit_step.h"

#include <functional>
#include <string>
#include <vector>

namespace qs {

/// Gives the name of an operator of the file or an added one; empty: `addressText` names it.
using OperatorNames = std::function<std::string(const ValueAddress& address)>;

/// `editText` with names of operators from elsewhere.
std::string editText(const EditStep& step, const OperatorNames& names);
/// `addressText` with names of operators from elsewhere.
std::string addressText(const ValueAddress& address, const OperatorNames& names);
/// " for conv2d (input), output 0 of the model"; "" for every reader.
std::string readersText(const std::vector<ReaderAddress>& readers, const OperatorNames& names);

/// The effect of a cure: "keep layer1.0 · conv2d float", "bound mask at 104".
std::string cureText(const Cure& cure, const OperatorNames& names = {});
/// The same with all its attributes: "..., +4.2 dB, by tune 1f3a, off".
std::string cureLine(const Cure& cure, const OperatorNames& names = {});
/// Mark of a rule that a cure gave: "cure float (tune 1f3a)".
std::string cureMark(const Cure& cure);

} // namespace qs
