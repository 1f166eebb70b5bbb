// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// The parts of an operator's name, as views into it.
struct OperatorParts
{
    std::string_view space; ///< "aten"; "" of a bare word
    std::string_view word; ///< "conv2d", "relu_"
    std::string_view overload; ///< "default"; "" if the name has none

    /// True for "relu_", not for "__and__" and "_foo".
    bool isInPlace() const
    {
        return word.size() > 1 && word.ends_with('_') && !word.ends_with("__");
    }
    /// The word of the functional form: "relu" of "relu_".
    std::string_view base() const { return word.substr(0, word.size() - (isInPlace() ? 1 : 0)); }
};

/// The parts of "aten.conv2d.default", "aten::conv2d", "_operator.add", "relu_".
OperatorParts operatorParts(std::string_view name);

/// The name without overload: "aten.conv2d" of "aten.conv2d.default".
std::string_view operatorPacket(std::string_view name);

/// Returns the name for titles, without leading underscores: "conv2d" for "aten.conv2d.default";
/// the target itself if it has no parts.
std::string shortOpName(const std::string& target);

} // namespace qs
